#pragma once
// The matrix Theta (linear/params.h) of a group of at most 16 * T patches, in the registers of one
// warp. T is a template argument.

#include <cuda_fp16.h>

#include <cstdint>

#include "cuda/warp.cuh"
#include "linear/cuda/half_matrix.cuh"
#include "linear/cuda/symmetric_blocks.cuh"
#include "noise/noise_model.h"

namespace lull::linear {

constexpr std::uint32_t minus_signs = 0x80008000;

/// A pair of adjacent samples, at the same place in every patch. `offset` is the offset of the pair
/// from the first sample of the patch. `mask` selects the samples that belong to the patch, because
/// the second sample may lie beyond its right edge.
struct SamplePair {
  int offset = 0;
  std::uint32_t mask = 0;
};

/// The samples of a group in shared memory. A word contains a sample and its right neighbour in
/// half precision.
struct GroupSamples {
  const std::uint32_t* words;
  const SamplePair* pairs;
  const std::uint32_t* mean;

  /// Returns a pair of samples of a patch, minus the mean patch. `place` is the offset of the
  /// patch, and `pair` the index of the pair.
  __device__ __forceinline__ std::uint32_t at(int place, int pair) const {
    const SamplePair p = pairs[pair];
    return word_of(__hsub2(halves_of(words[place + p.offset]), halves_of(mean[pair]))) & p.mask;
  }
};

/// Computes the mean of the first `count` patches of a group in one warp. A patch has 8 * `steps`
/// pairs of adjacent samples, including padding.
template <int T>
__device__ __forceinline__ void find_mean(const std::uint32_t* words, const SamplePair* pairs,
                                          const int* places, int steps, int count,
                                          std::uint32_t* mean) {
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  // The left operand has ones for members and zeros for unused patches, so the product is the sum
  // of the members.
  std::uint32_t members[T][2];
  int from[T][4];
#pragma unroll
  for (int k = 0; k < T; ++k) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int first = 16 * k + 8 * h + 2 * t;
      members[k][h] = (first < count ? 0x3c00u : 0u) | (first + 1 < count ? 0x3c000000u : 0u);
    }
#pragma unroll
    for (int m = 0; m < 4; ++m) from[k][m] = places[16 * k + 2 * t + m % 2 + m / 2 * 8];
  }
  const float share = 1 / static_cast<float>(count);
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    const int offset = pairs[8 * step + g].offset;
    FloatSums sum[2];
#pragma unroll
    for (int k = 0; k < T; ++k) {
      const std::uint32_t left[4] = {members[k][0], members[k][0], members[k][1], members[k][1]};
      std::uint32_t word[4];
#pragma unroll
      for (int m = 0; m < 4; ++m) word[m] = words[from[k][m] + offset];
#pragma unroll
      for (int s = 0; s < 2; ++s) {
        const int halves = s == 0 ? 0x5410 : 0x7632;
        sum[s] = multiply(left, __byte_perm(word[0], word[1], halves),
                          __byte_perm(word[2], word[3], halves), sum[s]);
      }
    }
    if (g == 0)
#pragma unroll
      for (int q = 0; q < 2; ++q)
        mean[8 * step + 2 * t + q] = pack_halves(sum[0].at[q] * share, sum[1].at[q] * share);
  }
  __syncwarp();
}

/// Computes -D * D', the negative Gram matrix of a group. Row i of D is patch i minus the mean
/// patch. Rows of D from `count` on are zero. The function computes only the blocks of the lower
/// triangle.
template <int T>
__device__ __forceinline__ void find_negative_gram(const GroupSamples& samples, const int* places,
                                                   int steps, int count, Block (&gram)[T][T]) {
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  int place[2 * T];
#pragma unroll
  for (int r = 0; r < 2 * T; ++r) place[r] = places[8 * r + g];
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    std::uint32_t first[2 * T], second[2 * T];
#pragma unroll
    for (int r = 0; r < 2 * T; ++r) {
      const bool is_member = 8 * r + g < count;
      first[r] = is_member ? samples.at(place[r], 8 * step + t) : 0u;
      second[r] = is_member ? samples.at(place[r], 8 * step + t + 4) : 0u;
    }
#pragma unroll
    for (int i = 0; i < T; ++i) {
      const std::uint32_t left[4] = {first[2 * i] ^ minus_signs, first[2 * i + 1] ^ minus_signs,
                                     second[2 * i] ^ minus_signs, second[2 * i + 1] ^ minus_signs};
#pragma unroll
      for (int r = 0; r < 2 * i + 2; ++r)
        gram[i][r / 2].half[r % 2] =
            multiply(left, first[r], second[r], gram[i][r / 2].half[r % 2]);
    }
  }
}

/// Calls use(value, row, column) for the elements of a block in the registers of this lane.
template <class Use>
__device__ __forceinline__ void for_values(Block& block, int i, int j, Use use) {
  const int lane = threadIdx.x % 32, g = lane / 4, t2 = 2 * (lane % 4);
#pragma unroll
  for (int n = 0; n < 2; ++n)
#pragma unroll
    for (int h = 0; h < 2; ++h)
#pragma unroll
      for (int e = 0; e < 2; ++e)
        use(block.half[n].at[2 * h + e], 16 * i + 8 * h + g, 16 * j + 8 * n + t2 + e);
}

/// Returns the trace of the matrix.
template <int T>
__device__ __forceinline__ float trace_of(Block (&matrix)[T][T]) {
  float trace = 0;
#pragma unroll
  for (int i = 0; i < T; ++i)
    for_values(matrix[i][i], i, i, [&](float value, int row, int column) {
      if (row == column) trace += value;
    });
  return warp_sum(trace);
}

/// Adds `value` to the diagonal of the matrix.
template <int T>
__device__ __forceinline__ void add_to_diagonal(Block (&matrix)[T][T], float value) {
#pragma unroll
  for (int i = 0; i < T; ++i) add_to_diagonal(matrix[i][i], value);
}

/// The noise covariance of two members, summed over their samples. The covariance depends on the
/// autocorrelation of the noise and on the displacement between the members.
struct SharedNoise {
  const float* autocorrelation;  // autocorrelation, in device memory
  const int* positions;          // positions of the members: 65536 y + x
  int count;                     // patches with larger displacements share no noise

  __device__ __forceinline__ float operator()(int row, int column) const {
    if (row >= count || column >= count) return row == column ? 1.0f : 0.0f;
    const int a = positions[row], b = positions[column];
    const int dx = (a & 0xffff) - (b & 0xffff), dy = (a >> 16) - (b >> 16);
    return within_lags(dx, dy) ? __ldg(autocorrelation + lag_index(dx, dy)) : 0.0f;
  }
};

/// Adds the noise covariance matrix, multiplied by `factor`, to the blocks of the lower triangle.
template <int T>
__device__ __forceinline__ void add_noise(const SharedNoise& noise, float factor,
                                          Block (&matrix)[T][T]) {
#pragma unroll
  for (int i = 0; i < T; ++i)
#pragma unroll
    for (int j = 0; j <= i; ++j)
      for_values(matrix[i][j], i, j,
                 [&](float& v, int row, int column) { v += factor * noise(row, column); });
}

/// Computes R = Q^-1 - (q * q') / (1' * q) in the upper triangle of blocks, where q = Q^-1 * 1. The
/// vector 1 has ones in the first `count` rows, and zeros elsewhere.
template <int T>
__device__ __forceinline__ void subtract_mean(Block (&inverse)[T][T], int count) {
  float of_row[2 * T] = {}, of_column[2 * T][2] = {};
#pragma unroll
  for (int i = 0; i < T; ++i)
#pragma unroll
    for (int j = i; j < T; ++j)
      for (int n = 0; n < 2; ++n)
        for (int h = 0; h < 2; ++h)
          for (int e = 0; e < 2; ++e) {
            const int lane = threadIdx.x % 32, g = lane / 4, t2 = 2 * (lane % 4);
            const float v = inverse[i][j].half[n].at[2 * h + e];
            if (16 * j + 8 * n + t2 + e < count) of_row[2 * i + h] += v;
            // A block above the diagonal also represents its transpose below the diagonal.
            if (j > i && 16 * i + 8 * h + g < count) of_column[2 * j + n][e] += v;
          }
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  float q_row[2 * T], q_column[2 * T][2], sum = 0;
#pragma unroll
  for (int r = 0; r < 2 * T; ++r) {
    q_row[r] = of_row[r];
#pragma unroll
    for (int j = 1; j < 4; j <<= 1) q_row[r] += __shfl_xor_sync(~0u, q_row[r], j);
#pragma unroll
    for (int e = 0; e < 2; ++e)
#pragma unroll
      for (int j = 4; j < 32; j <<= 1) of_column[r][e] += __shfl_xor_sync(~0u, of_column[r][e], j);
    // Lane g / 2 has the sum of column g: in of_column[r][0] for even g, and in of_column[r][1] for
    // odd g.
    const float from_even = __shfl_sync(~0u, of_column[r][0], g / 2);
    const float from_odd = __shfl_sync(~0u, of_column[r][1], g / 2);
    q_row[r] += g % 2 == 0 ? from_even : from_odd;
    if (8 * r + g >= count) q_row[r] = 0;
    sum += t == 0 ? q_row[r] : 0.0f;
#pragma unroll
    for (int e = 0; e < 2; ++e) q_column[r][e] = __shfl_sync(~0u, q_row[r], 4 * (2 * t + e));
  }
  const float share = 1 / warp_sum(sum);
#pragma unroll
  for (int i = 0; i < T; ++i)
#pragma unroll
    for (int j = i; j < T; ++j)
#pragma unroll
      for (int n = 0; n < 2; ++n)
#pragma unroll
        for (int h = 0; h < 2; ++h)
#pragma unroll
          for (int e = 0; e < 2; ++e)
            inverse[i][j].half[n].at[2 * h + e] -=
                share * q_row[2 * i + h] * q_column[2 * j + n][e];
}

/// Computes Theta = I - noise * (Q^-1 - J / (k * own)) for white noise. J is the matrix of ones,
/// and k is `count`. `own` is the eigenvalue of Q for the vector of ones. The function reads only
/// the upper triangle of blocks of Q^-1.
template <int T>
__device__ __forceinline__ void combine_white(Block (&inverse)[T][T], float noise, float own,
                                              int count, HalfMatrix<T>& theta) {
  const float of_mean = noise / (own * static_cast<float>(count));
#pragma unroll
  for (int i = 0; i < T; ++i)
#pragma unroll
    for (int j = i; j < T; ++j) {
      for_values(inverse[i][j], i, j, [&](float& v, int row, int column) {
        v = (row == column ? 1.0f : 0.0f) - noise * v;
        if (row < count && column < count) v += of_mean;
      });
      theta.set(i, j, inverse[i][j], 1);
      if (j > i) theta.mirror(i, j);
    }
}

/// Computes Theta = I - factor * C * R for coloured noise, with the noise covariance matrix C and
/// the result R of subtract_mean(). The function reads only the upper triangle of blocks of R.
template <int T>
__device__ __forceinline__ void combine_coloured(const SharedNoise& noise, Block (&r)[T][T],
                                                 float factor, HalfMatrix<T>& theta) {
#pragma unroll
  for (int j = 0; j < T; ++j) {
    Factor right[T];
#pragma unroll
    for (int k = 0; k < T; ++k) right[k] = factor_of(j <= k ? r[j][k] : transposed(r[k][j]));
#pragma unroll
    for (int i = 0; i < T; ++i) {
      Block sum{};
      if (i == j) add_to_diagonal(sum, 1);
#pragma unroll
      for (int k = 0; k < T; ++k) {
        Block own{};
        for_values(own, i, k,
                   [&](float& v, int row, int column) { v = -factor * noise(row, column); });
        const Factor left = factor_of(own);
#pragma unroll
        for (int step = 0; step < product_steps; ++step) add_product(sum, left, right[k], step);
      }
      theta.set(i, j, sum, 1);
    }
  }
}

/// Returns the weight 1 / sqrt(max(sum_j Theta_ij^2, 1 / count)) of row i of Theta, where i is 8 *
/// r + lane / 4.
template <int T>
__device__ __forceinline__ float row_weight(const HalfMatrix<T>& theta, int r, int count) {
  float sum = 0;
#pragma unroll
  for (int j = 0; j < T; ++j)
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      const float2 v = __half22float2(halves_of(theta.at[r / 2][j][2 * n + r % 2]));
      sum = fmaf(v.x, v.x, fmaf(v.y, v.y, sum));
    }
  sum += __shfl_xor_sync(~0u, sum, 1);
  sum += __shfl_xor_sync(~0u, sum, 2);
  return 1 / sqrtf(fmaxf(sum, 1 / static_cast<float>(count)));
}

}  // namespace lull::linear
