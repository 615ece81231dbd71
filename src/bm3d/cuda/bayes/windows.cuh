#pragma once
// Where a reference patch is compared.

#include "bm3d/cuda/bayes/kernels.h"

namespace lull::bm3d {

/// Where the candidates of a reference patch lie in the frames of a pair.
struct SearchWindow {
  int left, top, side;
};

/// Of pair `k`, for the reference patch at (x, y), which is the one in column i and row j. The
/// frame's own window is the first.
__device__ inline SearchWindow window_of(const BayesArgs& a, int window, int temporal_window, int k,
                                         int x, int y, int i, int j) {
  const BayesPair& pair = a.pair[k];
  const int side = k == 0 ? window : temporal_window;
  if (pair.motion == nullptr) return {x - side / 2, y - side / 2, side};
  const Motion m = a.grid.vector(pair.motion, i / motion_columns * motion_columns,
                                 j / motion_rows * motion_rows);
  return {x + m.x - side / 2, y + m.y - side / 2, side};
}

}  // namespace lull::bm3d
