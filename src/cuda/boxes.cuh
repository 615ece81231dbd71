#pragma once
// How kernels that sum over the boxes of 8x8 samples around each place cut a plane.

#include <cuda_runtime_api.h>

namespace lull {

/// Boxes reach `reach` samples beyond a place. The lanes of a warp are words of 4 samples beside
/// each other, of which two are there for what they reach alone.
inline constexpr int reach = 7, box_words = 30, box_width = 4 * box_words;

/// Thread blocks of `warps`, each of which sums `rows` rows.
template <int warps_, int rows_>
struct Boxes {
  static constexpr int warps = warps_, rows = rows_, threads = 32 * warps;
  static constexpr int height = warps * rows, tile_rows = height + reach;
  static constexpr int turns = (tile_rows + warps - 1) / warps;  // of the warps, for all tile_rows

  static constexpr dim3 covering(int width, int places_high) {
    return dim3((width + box_width - 1) / box_width, (places_high + height - 1) / height);
  }
};

}  // namespace lull
