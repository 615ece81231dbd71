#pragma once
// Half-precision matrices in the registers of a warp, as left operands of the tensor cores.

#include <cuda_fp16.h>

#include <cstdint>

#include "cuda/matrices/symmetric_blocks.cuh"
#include "cuda/warp.cuh"

namespace lull {

/// A square half-precision matrix in the registers of a warp, as left operand. at[i][j] is the
/// 16x16 block at row 16 i and column 16 j.
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
  /// Computes 16 rows of the product c += a w with this symmetric matrix w.
  __device__ __forceinline__ void add_product(const std::uint32_t (&a)[T][4],
                                              FloatSums (&c)[2 * T]) const {
#pragma unroll
    for (int k = 0; k < T; ++k)
#pragma unroll
      for (int r = 0; r < 2 * T; ++r)
        c[r] = multiply(a[k], at[r / 2][k][r % 2], at[r / 2][k][2 + r % 2], c[r]);
  }
};

}  // namespace lull
