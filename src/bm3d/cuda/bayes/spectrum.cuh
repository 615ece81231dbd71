#pragma once
// The Gram matrices and the weights of a group of at most 16 T patches, in the registers of one
// warp (cuda/matrices/symmetric_blocks.cuh). T is a template argument.

// Subtraction of means from inner products: for patches a_i and b_j of D samples with the sums s_i
// and s_j, and the means d_a and d_b over all patches, (a_i - d_a)'(b_j - d_b) = a_i'b_j + (D d_a
// d_b / 2 - d_b s_i) + (D d_a d_b / 2 - d_a s_j).

#include <cuda_fp16.h>

#include <cstdint>

#include "bm3d/cuda/bayes/window_atlas.cuh"
#include "cuda/matrices/half_matrix.cuh"
#include "cuda/matrices/symmetric_blocks.cuh"
#include "cuda/warp.cuh"

namespace lull::bm3d {

constexpr std::uint32_t half_ones = 0x3c003c00;

/// 16 samples of each patch, as operands of matrix products. Lane (g, t) = (lane / 4, lane % 4)
/// contains pairs t (first[r]) and t + 4 (second[r]) of patch 8r + g.
template <int T>
struct SampleStep {
  std::uint32_t first[2 * T], second[2 * T];

  template <class Samples, class Patch>
  __device__ __forceinline__ void load(const Samples& samples, const Patch (&patch)[2 * T],
                                       const SamplePair* pairs) {
    const SamplePair a = pairs[threadIdx.x % 4], b = pairs[threadIdx.x % 4 + 4];
#pragma unroll
    for (int r = 0; r < 2 * T; ++r) {
      first[r] = samples.at(patch[r], a) & a.mask;
      second[r] = samples.at(patch[r], b) & b.mask;
    }
  }
  /// Returns patches 16 i to 16 i + 15 as a left operand of a matrix product.
  __device__ __forceinline__ void left(int i, std::uint32_t (&a)[4]) const {
    a[0] = first[2 * i], a[1] = first[2 * i + 1], a[2] = second[2 * i], a[3] = second[2 * i + 1];
  }
};

/// Sums of the samples of each patch. The function mean() rounds its result to half precision.
template <int T>
struct PatchSums {
  // In lane (g, t) = (lane / 4, lane % 4), of[i].at[0] and of[i].at[1] are the sum of patch 16 i +
  // g, and of[i].at[2] and of[i].at[3] the sum of patch 16 i + 8 + g.
  FloatSums of[T];

  __device__ __forceinline__ void add(const std::uint32_t (&left)[4], int i) {
    of[i] = multiply(left, half_ones, half_ones, of[i]);
  }
  __device__ __forceinline__ float at(int r) const { return of[r / 2].at[r % 2 * 2]; }
  /// Returns the mean of the samples of `count` patches with `samples` samples each.
  __device__ __forceinline__ float mean(int count, int samples) const {
    const int g = threadIdx.x % 32 / 4;
    float sum = 0;
#pragma unroll
    for (int r = 0; r < 2 * T; ++r) sum += 8 * r + g < count ? at(r) : 0.0f;
#pragma unroll
    for (int j = 4; j < 32; j <<= 1) sum += __shfl_xor_sync(~0u, sum, j);
    return __half2float(__float2half_rn(sum / static_cast<float>(count * samples)));
  }
};

/// Computes the correction D d_a d_b / 2 - d_b s_i for each patch i. D is the number of samples of
/// a patch, s_i is the sum of the samples of patch i, and d_a and d_b are means over the group.
/// `both` is D d_a d_b, and `other` is d_b. correction[r] is the correction for patch 8r + lane /
/// 4.
template <int T>
__device__ __forceinline__ void corrections(const PatchSums<T>& sums, float both, float other,
                                            float (&correction)[2 * T]) {
#pragma unroll
  for (int r = 0; r < 2 * T; ++r) correction[r] = both / 2 - other * sums.at(r);
}

/// Subtracts the means from a block of inner products, multiplies the block by `share`, and clears
/// rows and columns from `count` on.
__device__ __forceinline__ void subtract_means(Block& block, int i, int j, const float* row,
                                               const float* column, int count, float share) {
  const int lane = threadIdx.x % 32, g = lane / 4, t2 = 2 * (lane % 4);
#pragma unroll
  for (int n = 0; n < 2; ++n)
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const float of_column = __shfl_sync(~0u, column[2 * j + n], 4 * (t2 + e));
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        float& v = block.half[n].at[2 * h + e];
        const bool is_member = 16 * i + 8 * h + g < count && 16 * j + 8 * n + t2 + e < count;
        v = is_member ? (v + row[2 * i + h] + of_column) * share : 0.0f;
      }
    }
}

/// Replaces a symmetric matrix p by 3 p^2 - 2 p^3.
template <int T>
__device__ __forceinline__ void sharpen(HalfMatrix<T>& p) {
  HalfMatrix<T> next;
#pragma unroll
  for (int i = 0; i < T; ++i) {
    FloatSums sums[2 * T];
    p.add_product(p.at[i], sums);
    std::uint32_t square[T][4];
#pragma unroll
    for (int r = 0; r < 2 * T; ++r)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        float &first = sums[r].at[2 * h], &second = sums[r].at[2 * h + 1];
        square[r / 2][2 * (r % 2) + h] = pack_halves(first, second);
        first *= -1.5f, second *= -1.5f;
      }
    p.add_product(square, sums);
#pragma unroll
    for (int r = 0; r < 2 * T; ++r)
#pragma unroll
      for (int h = 0; h < 2; ++h)
        next.at[i][r / 2][2 * (r % 2) + h] =
            word_of(__hmul2(halves_of(pack_halves(sums[r].at[2 * h], sums[r].at[2 * h + 1])),
                            __float2half2_rn(-2.0f)));
  }
  p = next;
}

/// Computes the weights I - t (G + s I)^-1 from the inverse matrix, with the Gram matrix G, the
/// threshold t and the diagonal loading s (filter.cu).
template <int T>
__device__ __forceinline__ void weights_from_noisy(Block (&inverse)[T][T], float threshold,
                                                   HalfMatrix<T>& weights) {
#pragma unroll
  for (int i = 0; i < T; ++i) {
    add_to_diagonal(inverse[i][i], -1 / threshold);
#pragma unroll
    for (int j = i; j < T; ++j) {
      weights.set(i, j, inverse[i][j], -threshold);
      if (j > i) weights.mirror(i, j);
    }
  }
}

/// Computes the weights I + (shared - t I) (G + s I)^-1 from the inverse matrix and `shared` (step
/// 3 of filter.cu), with the Gram matrix G, the threshold t and the diagonal loading s.
template <int T>
__device__ __forceinline__ void weights_from_basic(Block (&shared)[T][T],
                                                   const Block (&inverse)[T][T], float threshold,
                                                   HalfMatrix<T>& weights) {
#pragma unroll
  for (int i = 0; i < T; ++i) add_to_diagonal(shared[i][i], -threshold);
#pragma unroll
  for (int j = 0; j < T; ++j) {
    Factor right[T];
#pragma unroll
    for (int k = 0; k < T; ++k)
      right[k] = factor_of(j <= k ? inverse[j][k] : transposed(inverse[k][j]));
#pragma unroll
    for (int i = 0; i < T; ++i) {
      Block sum{};
      if (i == j) add_to_diagonal(sum, 1);
#pragma unroll
      for (int k = 0; k < T; ++k) {
        const Factor left = factor_of(shared[i][k]);
#pragma unroll
        for (int step = 0; step < product_steps; ++step) add_product(sum, left, right[k], step);
      }
      weights.set(i, j, sum, 1);
    }
  }
}

}  // namespace lull::bm3d
