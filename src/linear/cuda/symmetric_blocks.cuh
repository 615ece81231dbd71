#pragma once
// Symmetric matrices in the registers of a warp, as 16x16 blocks, and their inverses. For t = 0..3,
// lane 4 * g + t has the columns 8 * n + 2 * t and 8 * n + 2 * t + 1 of row 8 * h + g. The elements
// half[n].at[2 * h] and half[n].at[2 * h + 1] contain these two values.

// Results of tensor cores have this layout, and so have left operands and transposed right
// operands. Results can therefore become operands without an exchange of values between lanes.

#include <cstdint>

#include "cuda/warp.cuh"

namespace lull::linear {

struct Block {
  FloatSums half[2];
};

/// A block of floats as an operand of the tensor cores. Each float becomes the sum of two numbers
/// with 11 significant bits.
struct Factor {
#if __CUDA_ARCH__ >= 800
  std::uint32_t high[2][4], low[2][4];
#else
  Block block;
#endif
};

__device__ __forceinline__ Factor factor_of(const Block& block) {
  Factor f;
#pragma unroll
  for (int n = 0; n < 2; ++n)
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const float v = block.half[n].at[r];
#if __CUDA_ARCH__ >= 800
      f.high[n][r] = round_to_tf32(v);
      f.low[n][r] = round_to_tf32(v - __uint_as_float(f.high[n][r]));
#else
      f.block.half[n].at[r] = v;
#endif
    }
  return f;
}

/// Computes one of the `product_steps` steps of the block product c += a * b', where b' is the
/// transpose of b. A caller can interleave the steps of independent products, so that their
/// latencies overlap.
#if __CUDA_ARCH__ >= 800
constexpr int product_steps = 6;

__device__ __forceinline__ void add_product(Block& c, const Factor& a, const Factor& b, int step) {
  // Reorders columns: for t = 0..3, the columns 2 * t and 2 * t + 1 of a block become the columns t
  // and t + 4 of the operand.
  const int k = step / 3;
  const auto& left = step % 3 == 0 ? a.low[k] : a.high[k];
  const auto& right = step % 3 == 1 ? b.low[k] : b.high[k];
  const std::uint32_t reordered[4] = {left[0], left[2], left[1], left[3]};
#pragma unroll
  for (int n = 0; n < 2; ++n) mma_tf32(c.half[n].at, reordered, right[2 * n], right[2 * n + 1]);
}
#else
constexpr int product_steps = 16;

__device__ __forceinline__ void add_product(Block& c, const Factor& a, const Factor& b, int step) {
  const int lane = threadIdx.x % 32, g = lane / 4, t2 = 2 * (lane % 4);
  const FloatSums &left = a.block.half[step / 8], &right = b.block.half[step / 8];
  const int in_row = step % 8 / 2, e = step % 2;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const float l = __shfl_sync(~0u, left.at[2 * h + e], 4 * g + in_row);
#pragma unroll
    for (int n = 0; n < 2; ++n)
#pragma unroll
      for (int column = 0; column < 2; ++column)
        c.half[n].at[2 * h + column] +=
            l * __shfl_sync(~0u, right.at[2 * n + e], 4 * (t2 + column) + in_row);
  }
}
#endif

/// Transposes an 8x8 matrix. With g = lane / 4 and t = lane % 4, a lane has the columns 2 * t and 2
/// * t + 1 of row g.
__device__ __forceinline__ void transpose_8x8(float& first, float& second) {
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const bool odd = g % 2 != 0;
  // The first exchange moves values whose row and column have the same parity. The second exchange
  // moves all other values.
  const float alike = __shfl_sync(~0u, odd ? second : first, 4 * (2 * t + (odd ? 1 : 0)) + g / 2);
  const float other = __shfl_sync(~0u, odd ? first : second, 4 * (2 * t + (odd ? 0 : 1)) + g / 2);
  first = odd ? other : alike;
  second = odd ? alike : other;
}

__device__ __forceinline__ Block transposed(const Block& block) {
  Block reordered;
#pragma unroll
  for (int n = 0; n < 2; ++n)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float first = block.half[h].at[2 * n], second = block.half[h].at[2 * n + 1];
      transpose_8x8(first, second);
      reordered.half[n].at[2 * h] = first;
      reordered.half[n].at[2 * h + 1] = second;
    }
  return reordered;
}

/// Eliminates the 16 pivots of the diagonal block `k` of a symmetric negative definite matrix A.
/// panel[i] is block (i, k) of A, and receives the contribution of the pivots to the inverse of -A.

/// After the call, the caller must add column[i] * column[j]' to each block (i, j) with i != k and
/// j != k. For this purpose, the function stores block (i, k) in column[i]. It divides the column
/// of each pivot p by sqrt(-p) before it eliminates p.
template <int T>
__device__ __forceinline__ void sweep_panel(Block (&panel)[T], int k, Block (&column)[T]) {
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
#pragma unroll
  for (int n = 0; n < 2; ++n)  // the pivot is 8n + 2q + e
#pragma unroll 1
    for (int q = 0; q < 4; ++q)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int row_lane = 4 * (2 * q + e);
        const bool in_row = g == 2 * q + e, in_column = t == q;
        const float root =
            reciprocal_root(-__shfl_sync(~0u, panel[k].half[n].at[2 * n + e], row_lane + q));
        const float factor = root * root;
        float row[2][2];
#pragma unroll
        for (int m = 0; m < 2; ++m)
#pragma unroll
          for (int f = 0; f < 2; ++f)
            row[m][f] = factor * __shfl_sync(~0u, panel[k].half[m].at[2 * n + f], row_lane + t);
        if (in_column) row[n][e] = factor;
#pragma unroll
        for (int i = 0; i < T; ++i)
#pragma unroll
          for (int h = 0; h < 2; ++h) {
            float left = __shfl_sync(~0u, panel[i].half[n].at[2 * h + e], 4 * g + q);
            const bool pivots = i == k && h == n && in_row;
            if (i != k && in_column) column[i].half[n].at[2 * h + e] = left * root;
            if (pivots) left = 1;
#pragma unroll
            for (int m = 0; m < 2; ++m)
#pragma unroll
              for (int f = 0; f < 2; ++f) {
                float& v = panel[i].half[m].at[2 * h + f];
                v = (pivots || (in_column && m == n && f == e) ? 0.0f : v) + left * row[m][f];
              }
          }
      }
}

/// Replaces a symmetric negative definite matrix A by the inverse of -A. Reads the lower triangle
/// of blocks, and writes the upper triangle.
template <int T>
__device__ __forceinline__ void sweep(Block (&a)[T][T]) {
#pragma unroll
  for (int k = 0; k < T; ++k) {
    Block panel[T], column[T];
#pragma unroll
    for (int i = 0; i < T; ++i) panel[i] = i < k ? transposed(a[k][i]) : a[i][k];
    sweep_panel(panel, k, column);
    Factor factor[T];
#pragma unroll
    for (int i = 0; i < T; ++i) {
      a[i][k] = panel[i];
      if (i != k) factor[i] = factor_of(column[i]);
    }
#pragma unroll
    for (int step = 0; step < product_steps; ++step)
#pragma unroll
      for (int i = 0; i < T; ++i)
#pragma unroll
        for (int j = 0; j < T; ++j) {
          // Because A is symmetric, `a` contains only one of the blocks (i, j) and (j, i): the
          // block above the diagonal if i < k and j < k, otherwise the block below the diagonal.
          const bool kept = i < j ? j < k : j < i ? i > k : true;
          if (i != k && j != k && kept) add_product(a[i][j], factor[i], factor[j], step);
        }
  }
}

/// Returns the largest absolute value on the diagonal of a matrix.
template <int T>
__device__ __forceinline__ float largest_on_diagonal(const Block (&a)[T][T]) {
  const int lane = threadIdx.x % 32, g = lane / 4, t2 = 2 * (lane % 4);
  float largest = 0;
#pragma unroll
  for (int i = 0; i < T; ++i)
#pragma unroll
    for (int h = 0; h < 2; ++h)
#pragma unroll
      for (int e = 0; e < 2; ++e)
        if (g == t2 + e) largest = fmaxf(largest, fabsf(a[i][i].half[h].at[2 * h + e]));
  return __uint_as_float(
      warp_max(__float_as_uint(largest)));  // the bits of floats >= 0 have the order of the floats
}

/// Adds the scalar t to each diagonal element of the block.
__device__ __forceinline__ void add_to_diagonal(Block& block, float t) {
  const int lane = threadIdx.x % 32, g = lane / 4, t2 = 2 * (lane % 4);
#pragma unroll
  for (int h = 0; h < 2; ++h)
#pragma unroll
    for (int e = 0; e < 2; ++e)
      if (g == t2 + e) block.half[h].at[2 * h + e] += t;
}

}  // namespace lull::linear
