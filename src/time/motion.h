#pragma once
// Where things of one frame are in another: one vector for each cell of the main plane
// (frame_relation.h), found in two steps of full search over its 8-bit samples, in integers, so
// that every backend finds the same:
// 1. in the coarse plane, up to prediction_reach samples each way, the vector with which the sum of
//    squared differences over the cell's region is least;
// 2. around four times that vector, up to motion_refinement samples each way, the same in full
//    size.
// A region stays within the picture. Of equal sums the first counts, the centre of the search
// before the others, which follow row by row. No motion is better where the vector gains no more
// than still_bonus().

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/image.h"
#include "time/frame_relation.h"

namespace lull {

/// Sides of a cell and of its region, in samples of the main plane.
inline constexpr int motion_cell = 32, motion_region = 48;
inline constexpr int motion_refinement = 3;
struct Motion {
  std::int16_t x = 0, y = 0;
};

struct Interval {
  int first = 0, end = 0;
};

/// Cells along an axis of the main plane.
constexpr int motion_cells(int length) { return (length + motion_cell - 1) / motion_cell; }
/// The region that decides for cell `i`: the cell and what is around it, moved to lie within the
/// picture, all of it if that is smaller.
constexpr Interval cell_region(int i, int length) {
  const int side = motion_region < length ? motion_region : length;
  const int last = length - side, wish = i * motion_cell - (motion_region - motion_cell) / 2;
  const int first = wish < 0 ? 0 : wish < last ? wish : last;
  return {first, first + side};
}
/// The same in coarse samples: those that the interval meets.
constexpr Interval coarse_interval(Interval fine, int coarse_length) {
  return {std::min(fine.first / coarse, coarse_length),
          std::min((fine.end + coarse - 1) / coarse, coarse_length)};
}

/// By how much the cost of standing still may exceed that of the best vector and still be
/// preferred, for a region of `samples`: noise alone makes two sums of squares differ. An eighth of
/// sigma^2 a sample. A fourth would rule out nearly all false motion, but costs 0.03 dB; a half
/// costs 0.1 dB at sigma 40.
constexpr std::uint32_t still_bonus(float sigma, int samples) {
  const float s = std::min(sigma, 255.0f);
  return static_cast<std::uint32_t>(s * s / 8) * static_cast<std::uint32_t>(samples);
}

/// The main plane of a frame in 8 bits.
struct MainPlane {
  PlaneView<const std::uint8_t> fine, coarse;  // coarse: empty if it is too small
};

/// A vector for each cell: from `frame` to `other`. None moves where there is no coarse plane.
void find_motion(const MainPlane& frame, const MainPlane& other, float sigma,
                 std::vector<Motion>& cells);
}  // namespace lull
