#pragma once
// Where things of one frame are in another: one vector for each cell of the main plane
// (frame_relation.h), found in two steps of full search over its 8-bit samples, in integers, so
// that every backend finds the same:
// 1. in the coarse plane, up to prediction_reach samples each way, the vector with which the sum of
//    squared differences over the cell's region is least;
// 2. around four times that vector, up to motion_refinement samples each way, the same in full
// size. A region stays within the picture. Of equal sums the first counts, the centre of the search
// before the others, which follow row by row. No motion is better where the vector gains no more
// than still_bonus().
//
// Reference patches are grouped in blocks, which have the vector of the cell that holds their
// centre. Chroma planes take it in their own samples, rounded down.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bm3d/frame_relation.h"
#include "bm3d/group.h"
#include "core/image.h"

namespace lull::bm3d {

/// Sides of a cell and of its region, in samples of the main plane.
inline constexpr int motion_cell = 32, motion_region = 48;
inline constexpr int motion_refinement = 3;
/// Reference patches that share a vector, in a row and in a column; fewer at the right and below.
inline constexpr int motion_columns = 8, motion_rows = 4;

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
  int main_width = width, main_height = height;

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
  /// Its vector in samples of the plane, out of those of the cells, row by row.
  constexpr Motion vector(const Motion* cells, int i, int j) const {
    const int x = cell(i, motion_columns, width, shift_x, main_width);
    const int y = cell(j, motion_rows, height, shift_y, main_height);
    const Motion v = cells[y * motion_cells(main_width) + x];
    return {static_cast<std::int16_t>(v.x >> shift_x), static_cast<std::int16_t>(v.y >> shift_y)};
  }

 private:
  constexpr int cell(int reference, int side, int length, int shift, int main_length) const {
    const int first = reference / side * side, count = reference_count(length, step);
    const int last = first + side < count ? first + side - 1 : count - 1;
    const int twice =
        reference_position(first, length, step) + reference_position(last, length, step) + patch;
    const int centre = (twice << shift) / 2;
    return (centre < main_length ? centre : main_length - 1) / motion_cell;
  }
};

/// The main plane of a frame in 8 bits.
struct MainPlane {
  PlaneView<const std::uint8_t> fine, coarse;  // coarse: empty if it is too small
};

/// A vector for each cell: from `frame` to `other`. None moves where there is no coarse plane.
void find_motion(const MainPlane& frame, const MainPlane& other, float sigma,
                 std::vector<Motion>& cells);
/// The vectors of the grid's blocks.
void spread_motion(const std::vector<Motion>& cells, const MotionGrid& grid,
                   std::vector<Motion>& blocks);

}  // namespace lull::bm3d
