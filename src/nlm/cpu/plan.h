#pragma once
// Memory layout of a tile, for tile.cpp and blocks.cpp.

#include "core/round_up.h"
#include "nlm/cpu/kernels.h"

namespace lull::nlm::cpu {

/// Layout of the intermediate results of a tile, in cells (squares of 1x1 or 2x2 samples).
struct TilePlan {
  TilePlan(const Shape& s, const Tile& t)
      : shape(s),
        columns((t.width + s.cell - 1) / s.cell),
        rows((t.height + s.cell - 1) / s.cell),
        patch_columns(columns + s.block - 1),
        patch_rows(rows + s.block - 1),
        cell_columns(patch_columns + s.patch - 1),
        cell_rows(patch_rows + s.patch - 1),
        stride(round_up(cell_columns, 16) + 16),
        slices(t.slices + s.slices - 1),
        first_column(t.x / s.cell - (s.block - 1)),
        first_row(t.y / s.cell - (s.block - 1)) {}

  std::size_t patch_plane() const { return static_cast<std::size_t>(stride) * patch_rows; }
  std::size_t cell_plane() const { return static_cast<std::size_t>(stride) * cell_rows; }
  std::size_t sum_plane() const { return static_cast<std::size_t>(stride) * rows; }

  const Shape& shape;
  int columns, rows;  // size of the tile
  // Numbers of columns and rows of patches whose blocks overlap the tile, with one patch for each
  // cell (a square of 1x1 or 2x2 samples). The block of a patch is the set of samples for which the
  // patch gives estimates (weights.h).
  int patch_columns, patch_rows;
  int cell_columns, cell_rows;  // number of cells of these patches
  int stride;                   // distance between rows, in floats
  int slices;                   // number of slices that all patches together have
  int first_column, first_row;  // position of the first patch's block, in cells of the plane
};

/// Returns the address of the sample at x = column * cell + i + e_x and y = row + e_y. `column` is
/// the index of a cell along x. `cell` is the width of a cell, 1 or 2 samples. `i` is the column of
/// the sample in the cell. (e_x, e_y) is a displacement.
template <int cell>
inline const float* sample_pointer(const PhasedView& plane, int column, int row, int i, int e_x,
                                   int e_y) {
  const int x = column * cell + i + e_x;
  return plane.data + (row + e_y) * plane.row + (x & (cell - 1)) * plane.phase + (x >> (cell - 1));
}

}  // namespace lull::nlm::cpu
