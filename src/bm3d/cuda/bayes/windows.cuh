#pragma once
// Computes the search windows of a reference patch.

#include "bm3d/cuda/bayes/kernels.h"

namespace lull::bm3d {

/// The search window of a reference patch in the two frames of a pair.
struct SearchWindow {
  int left, top, side;
  int second_x, second_y;  // displacement of patches in the second frame
};

/// Returns the displacement of a candidate in the second frame of pair `k`, relative to its
/// position in the first frame. The reference patch is in column i and row j of the grid.
__device__ inline Motion second_half_of(const BayesArgs& a, int k, int i, int j) {
  if (k == 0 || a.second_half == nullptr) return {};
  return a.second_half[(k - 1) * a.grid.columns() * a.grid.rows() + a.grid.bundle(i, j)];
}

/// Returns the search window in frame pair `k` for the reference patch at (x, y), in column i and
/// row j of the grid.
__device__ inline SearchWindow window_of(const BayesArgs& a, int window, int temporal_window, int k,
                                         int x, int y, int i, int j) {
  const BayesPair& pair = a.pair[k];
  const int side = k == 0 ? window : temporal_window;
  const Motion second = second_half_of(a, k, i, j);
  if (pair.motion[0] == nullptr) return {x - side / 2, y - side / 2, side, second.x, second.y};
  const Motion m = a.grid.vector(pair.motion[0], i / motion_columns * motion_columns,
                                 j / motion_rows * motion_rows);
  return {x + m.x - side / 2, y + m.y - side / 2, side, second.x, second.y};
}

}  // namespace lull::bm3d
