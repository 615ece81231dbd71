#pragma once
// Motion between two frames. Each motion block of 32x32 samples of the main plane
// (frame_relation.h) has one vector. In identifiers, a motion block is named cell. The search uses
// 8-bit samples and integers, so all backends find the same vectors.

// Step 1 of the motion search finds the vector in the coarse plane that minimises the sum of
// squared differences over the region of the motion block. The full search covers vectors of up to
// `prediction_reach` samples in each direction.

// Step 2 of the motion search refines the vector at full resolution. The full search covers offsets
// of up to `motion_refinement` samples in each direction around four times the vector of step 1.
// The shifted region must be inside the picture.

// If several vectors have equal sums, the motion search selects the centre of the search. If the
// centre is not among these vectors, the search selects the first vector, row by row. The search
// prefers the vector 0 if the best vector reduces the sum by at most zero_motion_bonus().

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/image.h"
#include "time/frame_relation.h"

namespace lull {

/// Side of a motion block, and side of the larger region that the motion search compares for the
/// block, in samples of the main plane.
inline constexpr int motion_cell = 32, motion_region = 48;
inline constexpr int motion_refinement = 3;
struct Motion {
  std::int16_t x = 0, y = 0;
};

struct Interval {
  int first = 0, end = 0;
};

/// Returns the number of motion blocks along an axis of the main plane.
constexpr int motion_cells(int length) { return (length + motion_cell - 1) / motion_cell; }
/// Returns the region that the motion search compares for motion block `i` along one axis, as an
/// interval of samples. The region includes the surroundings of the block. If the picture is
/// smaller than a region, the interval is the complete picture.
constexpr Interval cell_region(int i, int length) {
  const int side = motion_region < length ? motion_region : length;
  const int last = length - side, wish = i * motion_cell - (motion_region - motion_cell) / 2;
  const int first = wish < 0 ? 0 : wish < last ? wish : last;
  return {first, first + side};
}
/// Returns the interval of coarse samples that overlap the interval `fine` of samples.
constexpr Interval coarse_interval(Interval fine, int coarse_length) {
  return {std::min(fine.first / coarse, coarse_length),
          std::min((fine.end + coarse - 1) / coarse, coarse_length)};
}

/// Returns the bonus of the vector 0 for a region of `samples` samples. The motion search prefers
/// the vector 0 if its cost exceeds the minimum cost by at most the bonus, because noise alone
/// makes costs differ. A larger bonus than sigma^2 / 8 per sample rejects more false motion, but
/// reduces the PSNR. A bonus of sigma^2 / 4 costs 0.03 dB. At sigma 40, a bonus of sigma^2 / 2
/// costs 0.1 dB.
constexpr std::uint32_t zero_motion_bonus(float sigma, int samples) {
  const float s = std::min(sigma, 255.0f);
  return static_cast<std::uint32_t>(s * s / 8) * static_cast<std::uint32_t>(samples);
}

/// The main plane of a frame in 8 bits.
struct MainPlane {
  PlaneView<const std::uint8_t> fine, coarse;  // coarse plane: empty if it is too small
};

/// Finds a motion vector for each motion block, from `frame` to `other`. All vectors are 0 if there
/// is no coarse plane.
void find_motion(const MainPlane& frame, const MainPlane& other, float sigma,
                 std::vector<Motion>& cells);
}  // namespace lull
