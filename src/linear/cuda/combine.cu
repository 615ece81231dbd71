// Linear combinations of the patches of groups (definition: linear/params.h). A warp combines one
// group after the other.
//
// A thread block processes neighbouring reference patches. The samples of the union of their search
// windows, and the sums of the estimates there, are in shared memory. A warp holds the matrices of
// a group in registers. Products run on the tensor cores, with operands in half precision and sums
// in single precision:
//   1. The mean patch of the group, in half precision. Before that, the level of the block is
//      subtracted from the samples, so that flat areas are exact.
//   2. The Gram matrix of the differences from the mean patch, and the inverse of Q in floats.
//   3. Theta in half precision, and the weights of its rows.
//   4. The estimates, 16 samples of all patches at a time, are added to the sums, which are
//      integers, so that their order does not matter.
// At the end the sums of the block are added to device memory.
//
// The noise level t that remains in z follows from the moments of y - z. Another kernel computes
// these moments for all patches before.
//
// If a group has fewer members than the maximum, the unused indices refer to the reference patch.
// The rows of Xc with these indices are zero, so that Theta does not mix them with members.

#include "cuda/check.h"
#include "cuda/shared_memory.h"
#include "linear/cuda/combine_plan.h"
#include "linear/cuda/combine_sums.h"
#include "linear/cuda/group_matrix.cuh"
#include "linear/cuda/kernels.h"
#include "linear/groups.h"

namespace lull::linear {
namespace {

constexpr int max_pairs = (max_side * ((max_side + 1) / 2) + 7) / 8 * 8;

/// Minimum eigenvalue of Q, in units of its largest diagonal element. The inverse is computed from
/// products of floats with about 21 significant bits; with smaller eigenvalues, the inverse would
/// be inexact.
constexpr float min_eigenvalue = 1.0f / (1 << 14);

enum class Kind { pilot, middle, last };

struct CombineJob {
  CombineArgs args;
  CombinePlan plan;
  float noise;  // n s^2
};

/// The first part of the shared memory of a thread block. It is followed by three to five arrays
/// with one value for each sample of the search windows.
template <int T>
struct BlockMemory {
  SamplePair pairs[max_pairs];
  std::uint32_t mean[max_combine_warps][max_pairs];
  int places[max_combine_warps][16 * T];
  int positions[max_combine_warps][16 * T];  // only for coloured noise
};

/// The union of the search windows of a block.
struct Region {
  int x, y, pitch, rows;

  /// Calls use(x, y, index) for all samples of the region that lie in the picture.
  template <class Use>
  __device__ __forceinline__ void for_samples(const Margins& m, Use use) const {
    for (int n = threadIdx.x; n < pitch * rows; n += blockDim.x) {
      const int sample_x = x + n % pitch, sample_y = y + n / pitch;
      if (sample_x >= 0 && sample_y >= 0 && sample_x < m.width && sample_y < m.height)
        use(sample_x, sample_y, n);
    }
  }
};

__device__ void load_words(const Region& region, const Margins& m, const float* plane, float level,
                           std::uint32_t* words) {
  for (int n = threadIdx.x; n < region.pitch * region.rows; n += blockDim.x) {
    const int x = region.x + n % region.pitch;
    const float* const row =
        plane + m.at(0, min(max(region.y + n / region.pitch, 0), m.height - 1));
    words[n] = pack_halves(row[min(max(x, 0), m.width - 1)] - level,
                           row[min(max(x + 1, 0), m.width - 1)] - level);
  }
}

/// Writes the index of each member's first sample in the windows. Returns the sums of the members'
/// moments, in all lanes.
template <int T, Kind kind>
__device__ __forceinline__ float2 find_places(const CombineJob& job, const Region& region, int i,
                                              int j, int count, int* places, int* positions) {
  const CombineArgs& a = job.args;
  const int x0 = a.groups.grid.x(i), y0 = a.groups.grid.y(j), window = a.groups.sizes.window;
  const std::size_t reference = static_cast<std::size_t>(j) * a.groups.grid.count_x + i;
  float2 moments{0, 0};
  for (int m = threadIdx.x % 32; m < 16 * T; m += 32) {
    int x = x0, y = y0;
    if (m < count) {
      const int index = a.groups.members[reference * a.groups.sizes.group + m];
      if (index > 0) x += (index - 1) % window - window / 2, y += (index - 1) / window - window / 2;
      if constexpr (kind != Kind::pilot) {
        const float2 of_patch = a.moments[a.margins.at(x, y)];
        moments.x += of_patch.x, moments.y += of_patch.y;
      }
    }
    places[m] = (y - region.y) * region.pitch + x - region.x;
    if (positions != nullptr) positions[m] = (y - region.y) << 16 | (x - region.x);
  }
  __syncwarp();
  if constexpr (kind != Kind::pilot) moments = {warp_sum(moments.x), warp_sum(moments.y)};
  return moments;
}

/// Returns t (params.h): the standard deviation of the noise that remains in z, relative to the
/// standard deviation of the noise in y.
__device__ __forceinline__ float remaining_noise(const CombineArgs& a, float2 moments, int count) {
  const auto samples = static_cast<float>(count * a.groups.sizes.side * a.groups.sizes.side);
  const float mean = moments.x / samples;
  const float variance = fmaxf(moments.y / samples - mean * mean, 0.0f);
  return fmaxf(1 - sqrtf(variance) / a.sigma, a.step.tau);
}

/// Adds the estimates of a group to the sums (step 4 at the top of this file). `share` is r of
/// params.h.
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

template <int T, Kind kind, bool white>
__device__ __forceinline__ void combine_group(const CombineJob& job, const Region& region,
                                              BlockMemory<T>& block, const std::uint32_t* x,
                                              const std::uint32_t* z, int* sums_x, int* sums_z,
                                              std::uint32_t* weights, int steps, int i, int j,
                                              float level) {
  const CombineArgs& a = job.args;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int count = a.groups.counts[static_cast<std::size_t>(j) * a.groups.grid.count_x + i];
  int* const places = block.places[warp];
  const float2 moments = find_places<T, kind>(job, region, i, j, count, places,
                                              white ? nullptr : block.positions[warp]);
  std::uint32_t* const mean = block.mean[warp];
  find_mean<T>(x, block.pairs, places, steps, count, mean);

  Block matrix[T][T] = {};
  find_negative_gram<T>({x, block.pairs, mean}, places, steps, count, matrix);
  const float largest = largest_on_diagonal(matrix);
  const float t = kind == Kind::pilot ? 1 : remaining_noise(a, moments, count);
  const float noise = kind == Kind::pilot ? (1 + a.step.alpha * a.step.alpha) * job.noise
                                          : a.step.excess * t * t * job.noise;
  const float in_gram = kind == Kind::pilot ? a.step.alpha * a.step.alpha * job.noise : noise;
  const auto samples = static_cast<float>(a.groups.sizes.side * a.groups.sizes.side);
  const float floor =
      floor_share * -trace_of(matrix) / static_cast<float>(count) + samples * floor_variance;
  HalfMatrix<T> theta;
  if constexpr (white) {
    const float own = fmaxf(in_gram + floor, min_eigenvalue * largest);
    add_to_diagonal(matrix, -own);
    sweep(matrix);
    combine_white(matrix, noise, own, count, theta);
  } else {
    const SharedNoise shared{a.autocorrelation, block.positions[warp], count};
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
    weight[r] = fixed * block_value_scale;
    if (lane % 4 == 0 && 8 * r + lane / 4 < count)
      atomicAdd(weights + places[8 * r + lane / 4], static_cast<std::uint32_t>(fixed));
  }
  add_estimates<T, kind>(theta, {z, block.pairs, mean}, places, weight, steps, count,
                         level - mid_level, a.step.tau / t, sums_x, sums_z);
  __syncwarp();
}

template <int T, Kind kind, bool white>
__global__ void __launch_bounds__(32 * max_combine_warps) combine_kernel(const CombineJob job) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto& block = *reinterpret_cast<BlockMemory<T>*>(memory);
  const CombineArgs& a = job.args;
  const Margins& m = a.margins;
  const ReferenceGrid& grid = a.groups.grid;
  const int side = a.groups.sizes.side, r = a.groups.sizes.window / 2;
  const int i0 = blockIdx.x * job.plan.across, j0 = blockIdx.y * job.plan.down;
  const Region region{grid.x(i0) - r, grid.y(j0) - r, job.plan.pitch, job.plan.rows};
  const int size = job.plan.pitch * job.plan.rows;
  constexpr bool has_z = kind != Kind::pilot;
  auto* const x = reinterpret_cast<std::uint32_t*>(memory + sizeof(block));
  auto* const z = has_z ? x + size : x;
  auto* const weights = z + size;
  int* const sums_x = reinterpret_cast<int*>(weights + size);
  int* const sums_z = kind == Kind::middle ? sums_x + size : nullptr;

  const int in_row = (side + 1) / 2, pairs = side * in_row, steps = (pairs + 7) / 8;
  for (int n = threadIdx.x; n < 8 * steps; n += blockDim.x) {
    const int column = n % in_row * 2;
    block.pairs[n] = n >= pairs ? SamplePair{}
                                : SamplePair{n / in_row * job.plan.pitch + column,
                                             column + 1 < side ? 0xffffffffu : 0x0000ffffu};
  }
  const float level =
      a.x[m.at(min(grid.x(i0) + side, m.width - 1), min(grid.y(j0) + side, m.height - 1))];
  load_words(region, m, a.x, level, x);
  if constexpr (has_z) load_words(region, m, a.z, level, z);
  for (int n = threadIdx.x; n < size; n += blockDim.x) {
    weights[n] = 0, sums_x[n] = 0;
    if constexpr (kind == Kind::middle) sums_z[n] = 0;
  }
  __syncthreads();
  for (int n = threadIdx.x / 32; n < job.plan.across * job.plan.down; n += job.plan.warps) {
    const int i = i0 + n % job.plan.across, j = j0 + n / job.plan.across;
    if (i < grid.count_x && j < grid.count_y)
      combine_group<T, kind, white>(job, region, block, x, z, sums_x, sums_z, weights, steps, i, j,
                                    level);
  }
  __syncthreads();
  region.for_samples(m, [&](int sample_x, int sample_y, int n) {
    const int at = m.at(sample_x, sample_y);
    if (sums_x[n] != 0)
      atomicAdd(a.sums.x + at, static_cast<unsigned long long>(static_cast<long long>(sums_x[n])));
    if constexpr (kind == Kind::middle)
      if (sums_z[n] != 0)
        atomicAdd(a.sums.z + at,
                  static_cast<unsigned long long>(static_cast<long long>(sums_z[n])));
    if (weights[n] != 0) atomicAdd(a.sums.weights + at, weights[n]);
  });
}

template <int T, Kind kind, bool white>
void launch(const CombineArgs& args, cudaStream_t stream) {
  const GroupSizes& sizes = args.groups.sizes;
  constexpr int words = kind == Kind::pilot ? 3 : kind == Kind::middle ? 5 : 4;
  CombineJob job{.args = args};
  job.plan = plan_combine(sizes, sizeof(BlockMemory<T>), sizeof(std::uint32_t) * words,
                          cuda::device_limits());
  job.noise = static_cast<float>(sizes.side * sizes.side) * args.sigma * args.sigma;
  const auto kernel = combine_kernel<T, kind, white>;
  cuda::allow_shared_memory(kernel);
  const ReferenceGrid& grid = args.groups.grid;
  const dim3 blocks((grid.count_x + job.plan.across - 1) / job.plan.across,
                    (grid.count_y + job.plan.down - 1) / job.plan.down);
  kernel<<<blocks, 32 * job.plan.warps, job.plan.bytes, stream>>>(job);
  cuda::check(cudaGetLastError());
}

template <int T, bool white>
void launch(const CombineArgs& args, cudaStream_t stream) {
  if (args.step.is_pilot)
    launch<T, Kind::pilot, white>(args, stream);
  else if (args.step.tau > 0)
    launch<T, Kind::middle, white>(args, stream);
  else
    launch<T, Kind::last, white>(args, stream);
}

template <bool white>
void launch(const CombineArgs& args, cudaStream_t stream) {
  if (args.groups.sizes.group <= 16)
    launch<1, white>(args, stream);
  else if (args.groups.sizes.group <= 32)
    launch<2, white>(args, stream);
  else
    launch<3, white>(args, stream);
}

}  // namespace

void combine(const CombineArgs& args, cudaStream_t stream) {
  if (args.autocorrelation == nullptr)
    launch<true>(args, stream);
  else
    launch<false>(args, stream);
}

}  // namespace lull::linear
