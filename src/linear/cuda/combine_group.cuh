#pragma once
// Combines the patches of one group, with one warp, for combine.cu (one picture) and
// combine_time.cu (several frames).

#include "linear/cuda/combine_plan.h"
#include "linear/cuda/combine_sums.h"
#include "linear/cuda/group_matrix.cuh"
#include "linear/schedule.h"

namespace lull::linear {

/// Minimum eigenvalue of Q (linear/params.h), as a fraction of the largest diagonal element of Q.
/// Smaller eigenvalues would make the inverse inexact, because products have only about 21
/// significant bits.
constexpr float min_eigenvalue = 1.0f / (1 << 14);

enum class Kind { pilot, middle, last };

/// The first part of the shared memory of a thread block. `Pairs` is the maximum number of sample
/// pairs of a patch.
template <int T, int Pairs>
struct BlockMemory {
  SamplePair pairs[Pairs];
  std::uint32_t mean[max_combine_warps][Pairs];
  int places[max_combine_warps][16 * T];
  int positions[max_combine_warps][16 * T];  // only for coloured noise
};

/// The samples and sums of a thread block in shared memory, and the parameters of its groups.
struct BlockWork {
  const std::uint32_t *x, *z;  // in the pilot, both are y
  int *sums_x, *sums_z;        // sums_z: only if the step computes z
  const SamplePair* pairs;
  int steps;          // number of pairs of a patch / 8
  float level;        // was subtracted from the samples
  float value_scale;  // sums are in units of 1 / (weight_scale * value_scale)
  float samples;      // n: number of samples of a patch
  float sigma;        // s
  const float* autocorrelation;
};

/// Returns the noise level t of z, in units of the noise level of y (linear/params.h). `moments`
/// contains sums over the patches of all members.
__device__ __forceinline__ float remaining_noise(const BlockWork& work, const Step& step,
                                                 float2 moments, int count) {
  const float samples = static_cast<float>(count) * work.samples;
  const float mean = moments.x / samples;
  const float variance = fmaxf(moments.y / samples - mean * mean, 0.0f);
  return fmaxf(1 - sqrtf(variance) / work.sigma, step.tau);
}

/// Adds the estimates of a group to the sums (step 4 of combine.cu). `share` is the factor r of
/// linear/params.h.
template <int T, Kind kind>
__device__ __forceinline__ void add_estimates(const HalfMatrix<T>& theta,
                                              const GroupSamples& samples, const int* places,
                                              const float (&weight)[2 * T], int steps, int count,
                                              float level, float share, int* sums_x, int* sums_z) {
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  int from[T][4], to[2 * T];
#pragma unroll
  for (int k = 0; k < T; ++k)
#pragma unroll
    for (int m = 0; m < 4; ++m) from[k][m] = places[16 * k + 2 * t + m % 2 + m / 2 * 8];
#pragma unroll
  for (int r = 0; r < 2 * T; ++r) to[r] = places[8 * r + g];
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    FloatSums sum[2][T];  // for the first and for the second sample of each pair
#pragma unroll
    for (int k = 0; k < T; ++k) {
      std::uint32_t word[4];
#pragma unroll
      for (int m = 0; m < 4; ++m) word[m] = samples.at(from[k][m], 8 * step + g);
#pragma unroll
      for (int i = 0; i < T; ++i)
#pragma unroll
        for (int s = 0; s < 2; ++s) {
          const int halves = s == 0 ? 0x5410 : 0x7632;
          sum[s][i] = multiply(theta.at[i][k], __byte_perm(word[0], word[1], halves),
                               __byte_perm(word[2], word[3], halves), sum[s][i]);
        }
    }
#pragma unroll
    for (int q = 0; q < 2; ++q) {
      const int pair = 8 * step + 2 * t + q;
      const SamplePair at = samples.pairs[pair];
      const float2 mean = __half22float2(halves_of(samples.mean[pair]));
#pragma unroll
      for (int r = 0; r < 2 * T; ++r) {
        if (8 * r + g >= count) continue;
        const int place = to[r] + at.offset;
        float2 own{};
        if constexpr (kind == Kind::middle) own = __half22float2(halves_of(samples.words[place]));
#pragma unroll
        for (int s = 0; s < 2; ++s) {
          if ((at.mask >> (16 * s) & 1) == 0) continue;
          const float estimate = sum[s][r / 2].at[r % 2 * 2 + q] + (s == 0 ? mean.x : mean.y);
          atomicAdd(sums_x + place + s, __float2int_rn(weight[r] * (estimate + level)));
          if constexpr (kind == Kind::middle) {
            const float mixed = estimate + share * ((s == 0 ? own.x : own.y) - estimate);
            atomicAdd(sums_z + place + s, __float2int_rn(weight[r] * (mixed + level)));
          }
        }
      }
    }
  }
}

/// Combines the patches of a group. `places` contains the offsets of the patches in the search
/// windows. For each member, one lane calls add_weight(row, weight), with the weight in units of 1
/// / weight_scale.
template <int T, Kind kind, bool white, class AddWeight>
__device__ __forceinline__ void combine_group(const BlockWork& work, const Step& step, int count,
                                              float2 moments, const int* places,
                                              const int* positions, std::uint32_t* mean,
                                              const AddWeight& add_weight) {
  const int lane = threadIdx.x % 32;
  find_mean<T>(work.x, work.pairs, places, work.steps, count, mean);

  Block matrix[T][T] = {};
  find_negative_gram<T>({work.x, work.pairs, mean}, places, work.steps, count, matrix);
  const float largest = largest_on_diagonal(matrix);
  const float t = kind == Kind::pilot ? 1 : remaining_noise(work, step, moments, count);
  const float of_patch = work.samples * work.sigma * work.sigma;
  const float noise = kind == Kind::pilot ? (1 + step.alpha * step.alpha) * of_patch
                                          : step.excess * t * t * of_patch;
  const float in_gram = kind == Kind::pilot ? step.alpha * step.alpha * of_patch : noise;
  const float floor =
      floor_share * -trace_of(matrix) / static_cast<float>(count) + work.samples * floor_variance;
  HalfMatrix<T> theta;
  if constexpr (white) {
    const float own = fmaxf(in_gram + floor, min_eigenvalue * largest);
    add_to_diagonal(matrix, -own);
    sweep(matrix);
    combine_white(matrix, noise, own, count, theta);
  } else {
    const SharedNoise shared{work.autocorrelation, positions, count};
    add_noise(shared, -in_gram, matrix);
    add_to_diagonal(matrix, -fmaxf(floor, min_eigenvalue * (largest + in_gram)));
    sweep(matrix);
    subtract_mean(matrix, count);
    combine_coloured(shared, matrix, noise, theta);
  }

  float weight[2 * T];
#pragma unroll
  for (int r = 0; r < 2 * T; ++r) {
    const auto fixed = static_cast<float>(
        __float2int_rn(row_weight(theta, r, count) * static_cast<float>(weight_scale)));
    weight[r] = fixed * work.value_scale;
    if (lane % 4 == 0 && 8 * r + lane / 4 < count)
      add_weight(8 * r + lane / 4, static_cast<std::uint32_t>(fixed));
  }
  add_estimates<T, kind>(theta, {work.z, work.pairs, mean}, places, weight, work.steps, count,
                         work.level - mid_level, step.tau / t, work.sums_x, work.sums_z);
  __syncwarp();
}

}  // namespace lull::linear
