#pragma once
// Half-precision matrices in the registers of a warp, as left operands of the tensor cores.

#include <cuda_fp16.h>

#include <cstdint>

#include "cuda/warp.cuh"
#include "linear/cuda/symmetric_blocks.cuh"

namespace lull::linear {

/// A square half-precision matrix in the registers of a warp, as left operand. at[i][j] is the
/// 16x16 block at row 16 * i and column 16 * j.
template <int T>
struct HalfMatrix {
  std::uint32_t at[T][T][4];

  __device__ __forceinline__ void set(int i, int j, const Block& block, float factor) {
#pragma unroll
    for (int n = 0; n < 2; ++n)
#pragma unroll
      for (int h = 0; h < 2; ++h)
        at[i][j][2 * n + h] =
            pack_halves(factor * block.half[n].at[2 * h], factor * block.half[n].at[2 * h + 1]);
  }
  /// Sets block (j, i) of this symmetric matrix to the transpose of block (i, j).
  __device__ __forceinline__ void mirror(int i, int j) {
#pragma unroll
    for (int n = 0; n < 2; ++n)
#pragma unroll
      for (int h = 0; h < 2; ++h) at[j][i][2 * n + h] = transposed_halves(at[i][j][2 * h + n]);
  }
};

}  // namespace lull::linear
