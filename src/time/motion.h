#pragma once
// Motion between two frames, with one vector for each motion block (a `cell`) of 32x32 samples of
// the luma (or green) plane. Integer arithmetic makes the vectors of all backends equal.

// Step 1 of the motion search: a full search in the downsampled plane (means of 4x4 samples) for
// the minimum sum of squared differences, up to `prediction_reach` downsampled samples in each
// direction.

// Step 2 of the motion search: a full search at full resolution, up to `motion_refinement` samples
// in each direction around the vector of step 1, multiplied by 4.

// Among vectors of equal cost, the motion search prefers the centre of the search, then the first
// vector in raster order. The search selects the zero vector if its cost exceeds the minimum cost
// by at most zero_motion_bonus().

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/image.h"
#include "time/frame_relation.h"

namespace lull {

/// Side of a motion block, and side of its larger matching region, in samples of the luma (or
/// green) plane.
inline constexpr int motion_cell = 32, motion_region = 48;
inline constexpr int motion_refinement = 3;
struct Motion {
  std::int16_t x = 0, y = 0;
};

struct Interval {
  int first = 0, end = 0;
};

/// Returns the number of motion blocks along an axis of `length` samples.
constexpr int motion_cells(int length) { return (length + motion_cell - 1) / motion_cell; }
/// Returns the extent of the matching region of motion block `i` along one axis, in samples. The
/// region does not exceed the picture.
constexpr Interval cell_region(int i, int length) {
  const int side = motion_region < length ? motion_region : length;
  const int last = length - side, wish = i * motion_cell - (motion_region - motion_cell) / 2;
  const int first = wish < 0 ? 0 : wish < last ? wish : last;
  return {first, first + side};
}
/// Returns the interval of downsampled samples (means of 4x4 samples) that overlap the interval
/// `fine` of samples.
constexpr Interval coarse_interval(Interval fine, int coarse_length) {
  return {std::min(fine.first / coarse, coarse_length),
          std::min((fine.end + coarse - 1) / coarse, coarse_length)};
}

/// Returns the largest difference of costs at which the motion search selects the zero vector, for
/// a region of `samples` samples. The difference is sigma^2 / 8 per sample. A larger difference
/// rejects more false motion, but lowers the PSNR: sigma^2 / 4 by 0.03 dB, and sigma^2 / 2 at sigma
/// 40 by 0.1 dB.
constexpr std::uint32_t zero_motion_bonus(float sigma, int samples) {
  const float s = std::min(sigma, 255.0f);
  return static_cast<std::uint32_t>(s * s / 8) * static_cast<std::uint32_t>(samples);
}

/// The luma (or green) plane of a frame in 8 bits: at full resolution (`fine`), and downsampled to
/// means of 4x4 samples (`coarse`).
struct MainPlane {
  PlaneView<const std::uint8_t> fine, coarse;  // `coarse` is empty if too small
};

/// Finds a motion vector for each motion block, from `frame` to `other`. Without downsampled
/// planes, all vectors are 0.
void find_motion(const MainPlane& frame, const MainPlane& other, float sigma,
                 std::vector<Motion>& cells);
}  // namespace lull
