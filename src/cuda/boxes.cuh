#pragma once
// Tiling of a plane for kernels that sum over 8x8 samples at each position.

#include <cuda_runtime_api.h>

namespace lull {

/// The kernels sum over boxes of 8x8 samples. A box extends `box_reach` samples beyond its
/// position. Each lane loads 4 samples as one word. Two of the 32 lanes of a warp load samples only
/// for the boxes of other lanes.
inline constexpr int box_reach = 7, box_words = 30, box_width = 4 * box_words;

/// Tiling of a plane with thread blocks. `rows` is the number of rows of box sums that each warp
/// computes.
template <int warps_, int rows_>
struct Boxes {
  static constexpr int warps = warps_, rows = rows_, threads = 32 * warps;
  static constexpr int height = warps * rows, tile_rows = height + box_reach;
  /// Maximum number of tile rows that each warp loads.
  static constexpr int passes = (tile_rows + warps - 1) / warps;

  static constexpr dim3 covering(int width, int places_high) {
    return dim3((width + box_width - 1) / box_width, (places_high + height - 1) / height);
  }
};

}  // namespace lull
