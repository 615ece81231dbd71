#pragma once
// Motion of reference patches: they are grouped in bundles, which have the vector of the cell
// (motion.h) that holds their centre. Chroma planes take it in their own samples, rounded down.

#include <cstdint>
#include <vector>

#include "match/grid.h"
#include "time/motion.h"

namespace lull {

/// Reference patches that share a vector, in a row and in a column; fewer at the right and below.
inline constexpr int motion_columns = 8, motion_rows = 4;

/// The reference patches of a plane as bundles.
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
  constexpr int bundle(int i, int j) const {
    return j / motion_rows * columns() + i / motion_columns;
  }
  /// Of the reference patch at (x, y), on the grid or in the last row or column.
  constexpr int bundle_at(int x, int y) const { return bundle(index_of(x), index_of(y)); }
  /// Of a reference patch, from its place along an axis.
  constexpr int index_of(int position) const { return (position + step - 1) / step; }
  /// Its vector in samples of the plane, out of those of the cells, row by row.
  constexpr Motion vector(const Motion* cells, int i, int j) const {
    return vector(cells, i, j, reference_count(width, step), reference_count(height, step));
  }
  /// The same; `count_x`, `count_y`: of the reference patches in a row and in a column.
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

/// Rows by which its vector may take a bundle's reference patches out of the picture, at most: it
/// keeps the place in the middle of the bundle inside, and what is around it.
constexpr int rows_outside(int step) { return ((motion_rows - 1) * step + patch + 1) / 2; }

/// The vectors of the grid's bundles.
void spread_motion(const std::vector<Motion>& cells, const MotionGrid& grid,
                   std::vector<Motion>& bundles);

}  // namespace lull
