#pragma once
// Motion of reference patches. A bundle is a rectangle of up to 8x4 neighbouring reference patches.
// All patches of a bundle have the motion vector of the motion block (time/motion.h) at the centre
// of the bundle.

// In chroma planes, the matcher scales motion vectors to samples of the plane, and rounds them
// down.

#include <cstdint>
#include <vector>

#include "match/grid.h"
#include "time/motion.h"

namespace lull {

/// Size of a bundle in reference patches. Bundles at the right and bottom edge may be smaller.
inline constexpr int motion_columns = 8, motion_rows = 4;

/// The division of the reference patches of a plane into bundles (8x4 reference patches).
struct MotionGrid {
  int width = 0, height = 0;  // size of the plane
  int step = 1;
  int shift_x = 0, shift_y = 0;  // log2 of the subsampling of the plane (chroma)
  int main_width = width, main_height = height;

  constexpr int columns() const {
    return (reference_count(width, step) + motion_columns - 1) / motion_columns;
  }
  constexpr int rows() const {
    return (reference_count(height, step) + motion_rows - 1) / motion_rows;
  }
  /// Returns the index of the bundle (8x4 reference patches) that contains the reference patch in
  /// column `i` and row `j`.
  constexpr int bundle(int i, int j) const {
    return j / motion_rows * columns() + i / motion_columns;
  }
  /// Returns the index of the bundle (8x4 reference patches) that contains the reference patch at
  /// (x, y).
  constexpr int bundle_at(int x, int y) const { return bundle(index_of(x), index_of(y)); }
  /// Returns the index of the reference patch at a position along an axis.
  constexpr int index_of(int position) const { return (position + step - 1) / step; }
  /// Returns the motion vector, in samples, of the bundle (8x4 reference patches) that contains the
  /// reference patch in column `i` and row `j`. `cells` contains the vectors of all motion blocks
  /// (time/motion.h).
  constexpr Motion vector(const Motion* cells, int i, int j) const {
    return vector(cells, i, j, reference_count(width, step), reference_count(height, step));
  }
  /// Overload of vector(cells, i, j). The caller passes the number of reference patches in a row
  /// (`count_x`) and in a column (`count_y`).
  constexpr Motion vector(const Motion* cells, int i, int j, int count_x, int count_y) const {
    const int x = cell(i, motion_columns, count_x, width, shift_x, main_width);
    const int y = cell(j, motion_rows, count_y, height, shift_y, main_height);
    const Motion v = cells[y * motion_cells(main_width) + x];
    return {static_cast<std::int16_t>(v.x >> shift_x), static_cast<std::int16_t>(v.y >> shift_y)};
  }

 private:
  constexpr int cell(int reference, int side, int count, int length, int shift,
                     int main_length) const {
    const int first = reference / side * side;
    const int last = first + side < count ? first + side - 1 : count - 1;
    const int twice =
        reference_position(first, length, step) + reference_position(last, length, step) + patch;
    const int centre = (twice << shift) / 2;
    return (centre < main_length ? centre : main_length - 1) / motion_cell;
  }
};

/// Returns the maximum number of rows by which motion vectors move reference patches out of the
/// picture. The maximum is half the height of a bundle (8x4 reference patches), because the centre
/// of a bundle stays inside the picture.
constexpr int rows_outside(int step) { return ((motion_rows - 1) * step + patch + 1) / 2; }

/// Computes the motion vector of each bundle (8x4 reference patches), row by row.
void bundle_motion(const std::vector<Motion>& cells, const MotionGrid& grid,
                   std::vector<Motion>& bundles);

}  // namespace lull
