#pragma once
// Where things of one frame are in another: one vector for each block of reference patches, found
// in two steps of full search over 8-bit samples of the main plane (frame_relation.h), in integers,
// so that every backend finds the same:
// 1. in the coarse plane, up to prediction_reach samples each way, the coarse region of the block
//    within which the sum of squared differences is least;
// 2. around four times that vector, up to motion_refinement samples each way, the same in full size
//    over the block's region.
// A region stays within the picture. Of equal sums the first counts, the centre of the search
// before the others, which follow row by row. No motion is better where the vector gains no more
// than still_bonus(). Chroma planes take the vector in their own samples, rounded down.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bm3d/frame_relation.h"
#include "bm3d/group.h"
#include "core/image.h"

namespace lull::bm3d {

/// Reference patches that share a vector, in a row and in a column; fewer at the right and below.
inline constexpr int motion_columns = 8, motion_rows = 4;
/// Least side of the region that decides, in samples of the main plane.
inline constexpr int motion_region = 32;
inline constexpr int motion_refinement = 3;

struct Motion {
  std::int16_t x = 0, y = 0;
};

struct Interval {
  int first = 0, end = 0;
};

/// The part of an axis of the main plane that decides for a block: references first .. last of a
/// plane that is `shift` smaller, at `step`; at least motion_region long, if the picture is.
/// `length`: of the main plane.
constexpr Interval motion_interval(int first, int last, int step, int plane_length, int shift,
                                   int length) {
  int begin = reference_position(first, plane_length, step) << shift;
  int end = (reference_position(last, plane_length, step) + patch) << shift;
  end = std::min(end, length);
  const int missing = std::max(0, std::min(motion_region, length) - (end - begin));
  begin = std::clamp(begin - missing / 2, 0, length - (end - begin) - missing);
  return {begin, std::max(end, begin + std::min(motion_region, length))};
}
/// The same in coarse samples: those that the interval meets.
constexpr Interval coarse_interval(Interval fine, int coarse_length) {
  return {std::min(fine.first / coarse, coarse_length),
          std::min((fine.end + coarse - 1) / coarse, coarse_length)};
}

/// What standing still may cost more than the best vector, for a region of `samples`: differences
/// between two sums of squares that are due to noise alone. A fourth of sigma^2 a sample would
/// leave hardly any, and costs 0.03 dB; half costs 0.1 dB at sigma 40.
constexpr std::uint32_t still_bonus(float sigma, int samples) {
  const float s = std::min(sigma, 255.0f);
  return static_cast<std::uint32_t>(s * s / 8) * static_cast<std::uint32_t>(samples);
}

/// The reference patches of a plane as blocks.
struct MotionGrid {
  int width = 0, height = 0;  // of the plane
  int step = 1;
  int shift_x = 0, shift_y = 0;  // log2 of how much smaller it is than the main plane

  constexpr int columns() const {
    return (reference_count(width, step) + motion_columns - 1) / motion_columns;
  }
  constexpr int rows() const {
    return (reference_count(height, step) + motion_rows - 1) / motion_rows;
  }
  /// Of the reference patch `i` in its row, `j` in its column.
  constexpr int block(int i, int j) const {
    return j / motion_rows * columns() + i / motion_columns;
  }
};

/// The main plane of a frame in 8 bits. Both can be read for 64 samples beyond the last row.
struct MainPlane {
  PlaneView<const std::uint8_t> fine, coarse;  // coarse: empty if it is too small
};

/// A vector for each block of the grid: from `frame` to `other`, in samples of the grid's plane.
void find_motion(const MainPlane& frame, const MainPlane& other, const MotionGrid& grid,
                 float sigma, std::vector<Motion>& field);

}  // namespace lull::bm3d
