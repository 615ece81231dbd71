// Computes the estimates of a group from the covariance of its patches. One warp processes a group,
// with all matrices in registers (cuda/matrices/symmetric_blocks.cuh).

// Shared memory contains the search windows and the aggregation sums of neighbouring reference
// patches (window_atlas.cuh). All sums are integers, so the order of additions does not change the
// result.

// Tensor cores compute the matrix products, in half precision with single-precision sums.

// Step 1: The Gram matrix G = B B' / n, where the rows of B are the n patches that determine the
// spectrum (noisy or basic estimate).

// Step 2: The inverse (G + s I)^-1 for the Gram matrix G, in single precision. The diagonal loading
// s is at least the threshold t (bm3d/bayes_precision.h).

// Step 3 for the spectrum of noisy patches: the weights W = I - t (G + s I)^-1, from the Gram
// matrix G, the threshold t and the diagonal loading s, sharpened by W <- 3 W^2 - 2 W^3.

// Step 3 for the spectrum of the basic estimate: With the n noisy patches Y, the patches B of the
// basic estimate, their Gram matrix G, the threshold t and the diagonal loading s, the weights are
// W = Y B' / n (G + s I)^-1. The code uses the equivalent form I + ((Y - B) B' / n - t I) (G + s
// I)^-1, which avoids cancellation.

// Step 4: The warp multiplies the weights by 16 samples of each patch at a time, and adds these
// estimates to the sums.

// Unused elements of a group refer to the reference patch. The kernel clears their rows and columns
// of the Gram matrix, so unused elements do not mix with members.

#include <algorithm>
#include <array>

#include "bm3d/bayes_precision.h"
#include "bm3d/cuda/bayes/kernels.h"
#include "bm3d/cuda/bayes/spectrum.cuh"
#include "bm3d/cuda/bayes/window_atlas.cuh"
#include "bm3d/cuda/filter/filter_plan.h"
#include "core/error.h"
#include "core/round_up.h"
#include "cuda/check.h"
#include "cuda/shared_memory.h"

namespace lull::bm3d {
namespace {

constexpr int max_groups = 8;  // per thread block

/// The first part of the shared memory of a thread block. The samples and the sums follow
/// (match/window_plan.h).
template <int N, class Staging>
struct BlockMemory {
  SamplePair pairs[sample_pair_slots];
  AtlasWindow windows[max_frames];
  typename Staging::Patch patches[max_groups][N];
};

/// Arguments of the filter kernel.
struct FilterJob {
  BayesArgs args;
  WindowWork work;
  WindowAtlas atlas;
  BayesPlane plane;
  HalfScale scale;
  int sharpenings;
};

template <class Staging>
__device__ SamplePair sample_pair(const FilterJob& job, int n) {
  const BayesArgs& a = job.args;
  const int in_row = (a.side + 1) / 2, in_frame = a.side * in_row;
  const int frame = n / in_frame, row = n % in_frame / in_row, column = n % in_row * 2;
  if (frame >= a.depth) return {};
  const std::uint32_t mask = column + 1 < a.side ? 0xffffffff : 0x0000ffff;
  if constexpr (Staging::shared)
    return {frame * job.atlas.words + row * job.atlas.pitch + column, mask};
  const int offset = row * a.margins.pitch + column;
  return {frame > 0 ? ~offset : offset, mask};
}

/// Computes the positions of the members of a group, and counts the patches that begin at each
/// sample.
template <int N, class Staging>
__device__ void find_patches(const FilterJob& job, const AtlasWindow* windows, int i, int j,
                             int count, typename Staging::Patch* patches) {
  const BayesArgs& a = job.args;
  const int x0 = reference_position(i, a.margins.width, a.grid.step, a.side);
  const int y0 = reference_position(j, a.margins.height, a.grid.step, a.side);
  const std::size_t reference = static_cast<std::size_t>(j - a.first_row) * a.columns + i;
  for (int m = threadIdx.x % 32; m < N; m += 32) {
    const std::uint32_t member = a.members[reference * N + (m < count ? m : 0)];
    int k = 0;
    while (a.pair[k].offset != displacement_t(member)) ++k;
    const int x = x0 + displacement_x(member), y = y0 + displacement_y(member);
    const Motion second = second_half_of(a, k, i, j);
    const std::ptrdiff_t at[2] = {a.margins.at(x, y) + a.pair[k].distance[0],
                                  a.margins.at(x + second.x, y + second.y) + a.pair[k].distance[1]};
    for (int frame = 0; frame < a.depth; ++frame)
      if (m < count) atomicAdd(job.plane.sums.denominator + at[frame], 1u);
    if constexpr (Staging::shared) {
      const AtlasWindow& w = windows[k];
      patches[m] = w.first + (y - w.top) * job.atlas.pitch + x - w.left;
    } else {
      patches[m] = {static_cast<int>(at[0]), static_cast<int>(at[1])};
    }
  }
  __syncwarp();
}

/// Stores the inverse of the shifted Gram matrix in `gram` and, with a basic estimate B and the n
/// noisy patches Y, (Y - B) B' / n in `shared`. mean[0] is the mean of the noisy patches, and
/// mean[1] the mean of the patches from which the spectrum is computed (`own`).
template <int T, bool uses_basic, class Samples, class Patch>
__device__ __forceinline__ void find_spectrum(const Samples& own, const Samples& noise,
                                              const Patch* patches, const SamplePair* pairs,
                                              int steps, int count, int samples, float threshold,
                                              Block (&gram)[T][T], Block (&shared)[T][T],
                                              float (&mean)[2]) {
  Patch patch[2 * T];
#pragma unroll
  for (int r = 0; r < 2 * T; ++r) patch[r] = patches[8 * r + threadIdx.x % 32 / 4];
  PatchSums<T> sums, noise_sums;
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    SampleStep<T> b, y;
    b.load(own, patch, pairs + 8 * step);
    if constexpr (uses_basic) y.load(noise, patch, pairs + 8 * step);
#pragma unroll
    for (int i = 0; i < T; ++i) {
      std::uint32_t left[4];
      b.left(i, left);
#pragma unroll
      for (int r = 0; r < 2 * i + 2; ++r)
        gram[i][r / 2].half[r % 2] =
            multiply(left, b.first[r], b.second[r], gram[i][r / 2].half[r % 2]);
      sums.add(left, i);
      if constexpr (!uses_basic) continue;
      y.left(i, left);
#pragma unroll
      for (int r = 0; r < 2 * T; ++r)
        shared[i][r / 2].half[r % 2] =
            multiply(left, b.first[r], b.second[r], shared[i][r / 2].half[r % 2]);
      noise_sums.add(left, i);
    }
  }
  const float share = 1 / static_cast<float>(count);
  mean[0] = mean[1] = sums.mean(count, samples);
  float correction[2 * T];
  corrections(sums, static_cast<float>(samples) * mean[1] * mean[1], mean[1], correction);
#pragma unroll
  for (int i = 0; i < T; ++i) {
#pragma unroll
    for (int j = 0; j <= i; ++j)
      subtract_means(gram[i][j], i, j, correction, correction, count, -share);
  }
  const float shift = fmaxf(threshold, min_tensor_shift * largest_on_diagonal(gram));
#pragma unroll
  for (int i = 0; i < T; ++i) add_to_diagonal(gram[i][i], -shift);
  if constexpr (uses_basic) {
    const float mean_noise = noise_sums.mean(count, samples);
    mean[0] = mean[1] + mean_noise;
    const float both = static_cast<float>(samples) * mean_noise * mean[1];
    float of_noise[2 * T];
    corrections(noise_sums, both, mean[1], of_noise);
    corrections(sums, both, mean_noise, correction);
#pragma unroll
    for (int i = 0; i < T; ++i)
#pragma unroll
      for (int j = 0; j < T; ++j)
        subtract_means(shared[i][j], i, j, of_noise, correction, count, share);
  }
  sweep(gram);
}

/// Computes the estimates w (b - mean) from the weights w and the samples b, and adds them to the
/// sums. The first `full_steps` steps contain no padding.
template <int T, class Samples, class Estimates, class Patch>
__device__ __forceinline__ void add_estimates(const HalfMatrix<T>& weights, const Samples& samples,
                                              const Estimates& estimates, const Patch* patches,
                                              const SamplePair* pairs, int steps, int full_steps,
                                              int count, float mean) {
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  FloatSums of_mean[T];  // equal for all samples
  const std::uint32_t minus_mean = pack_halves(-mean, -mean);
#pragma unroll
  for (int k = 0; k < T; ++k)
#pragma unroll
    for (int i = 0; i < T; ++i)
      of_mean[i] = multiply(weights.at[i][k], minus_mean, minus_mean, of_mean[i]);
  Patch from[T][4], to[2 * T];
#pragma unroll
  for (int k = 0; k < T; ++k)
#pragma unroll
    for (int m = 0; m < 4; ++m) from[k][m] = patches[16 * k + 2 * t + m % 2 + m / 2 * 8];
#pragma unroll
  for (int r = 0; r < 2 * T; ++r) to[r] = patches[8 * r + g];
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    const SamplePair pair = pairs[8 * step + g];
    FloatSums sum[2][T];  // sums for the first and for the second sample of each pair
#pragma unroll
    for (int i = 0; i < T; ++i) sum[0][i] = sum[1][i] = of_mean[i];
#pragma unroll
    for (int k = 0; k < T; ++k) {
      std::uint32_t word[4];
#pragma unroll
      for (int m = 0; m < 4; ++m) word[m] = samples.at(from[k][m], pair);
#pragma unroll
      for (int i = 0; i < T; ++i)
#pragma unroll
        for (int s = 0; s < 2; ++s) {
          const int halves = s == 0 ? 0x5410 : 0x7632;
          sum[s][i] = multiply(weights.at[i][k], __byte_perm(word[0], word[1], halves),
                               __byte_perm(word[2], word[3], halves), sum[s][i]);
        }
    }
    const auto add = [&](auto all) {
#pragma unroll
      for (int q = 0; q < 2; ++q) {
        const SamplePair at = pairs[8 * step + 2 * t + q];
#pragma unroll
        for (int r = 0; r < 2 * T; ++r)
#pragma unroll
          for (int s = 0; s < 2; ++s)
            if (all || (8 * r + g < count && (at.mask >> (16 * s) & 1) != 0))
              estimates.add(to[r], at, s, sum[s][r / 2].at[r % 2 * 2 + q]);
      }
    };
    if (step < full_steps && count == 16 * T)
      add(std::true_type{});
    else
      add(std::false_type{});
  }
}

template <int N, bool uses_basic, class Staging>
__global__ void __launch_bounds__(32 * max_groups, N == 64 ? 1 : 2)
    bayes_filter_kernel(const FilterJob job) {
  extern __shared__ __align__(16) unsigned char memory[];
  constexpr int T = N / 16;
  const BayesArgs& a = job.args;
  auto& block = *reinterpret_cast<BlockMemory<N, Staging>*>(memory);
  auto* const words = reinterpret_cast<std::uint32_t*>(memory + sizeof(block));
  const int atlas_words = a.depth * job.atlas.words;
  // `others` contains the noisy samples minus the basic estimate, and later the sums of the
  // estimates.
  std::uint32_t* const others = words + atlas_words + 1;
  int* const sums = reinterpret_cast<int*>(others);
  const float* const own = uses_basic ? job.plane.basic : job.plane.noisy;

  const BlockPosition place(a, job.atlas);
  if (threadIdx.x < a.pairs)
    block.windows[threadIdx.x] = atlas_window(a, job.work, job.atlas, place, threadIdx.x);
  const int pairs = sample_pairs(a), steps = (pairs + 7) / 8;
  for (int n = threadIdx.x; n < 8 * steps; n += blockDim.x)
    block.pairs[n] = sample_pair<Staging>(job, n);
  const float level =
      (own + a.pair[0].distance[0])[a.margins.at(place.x + a.side / 2, place.y + a.side / 2)];
  const SampleScale sample_scale{level, 1 / job.scale.unit};
  __syncthreads();
  if constexpr (Staging::shared) {
    auto *const samples = reinterpret_cast<float*>(words), *const noisy =
                                                               reinterpret_cast<float*>(others);
    load_samples(a, job.atlas, block.windows, own, samples);
    if constexpr (uses_basic)
      load_samples(a, job.atlas, block.windows, job.plane.noisy, noisy);
    else
      for (int n = threadIdx.x; n < atlas_words; n += blockDim.x) sums[n] = 0;
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    make_words<uses_basic>(sample_scale, atlas_words, samples, noisy);
    __syncthreads();
  }

  const int warp = threadIdx.x / 32;
  const int i = place.i + warp % job.atlas.across, j = place.j + warp / job.atlas.across;
  const bool active = i < a.columns && j >= a.first_row && j < a.first_row + a.rows;
  const int count = active ? a.counts[(j - a.first_row) * a.columns + i] : 0;
  auto* const patches = block.patches[warp];
  HalfMatrix<T> weights;
  float mean[2];
  typename Staging::Samples spectrum, noise;
  if constexpr (Staging::shared)
    spectrum = {words}, noise = {others};
  else
    spectrum = {own, nullptr, sample_scale},
    noise = {job.plane.noisy, job.plane.basic, sample_scale};
  if (active) {
    find_patches<N, Staging>(job, block.windows, i, j, count, patches);
    Block gram[T][T] = {}, shared[T][T] = {};
    find_spectrum<T, uses_basic>(spectrum, noise, patches, block.pairs, steps, count,
                                 a.depth * a.side * a.side, job.scale.threshold, gram, shared,
                                 mean);
    if constexpr (uses_basic) {
      weights_from_basic(shared, gram, job.scale.threshold, weights);
    } else {
      weights_from_noisy(gram, job.scale.threshold, weights);
#pragma unroll 1
      for (int k = 0; k < job.sharpenings; ++k) sharpen(weights);
    }
  }
  if constexpr (Staging::shared && uses_basic) {
    __syncthreads();
    for (int n = threadIdx.x; n < atlas_words; n += blockDim.x) sums[n] = 0;
    __syncthreads();
  }
  if (active)
    add_estimates(weights, spectrum,
                  typename Staging::Estimates(sums, job.plane.sums.numerator, job.scale.unit,
                                              level + mean[0] * job.scale.unit),
                  patches, block.pairs, steps, a.side % 2 == 0 ? pairs / 8 : 0, count, mean[1]);
  if constexpr (Staging::shared) {
    __syncthreads();
    flush_sums(a, job.atlas, block.windows, sums, job.plane.sums.numerator);
  }
}

/// Returns the shared memory of a thread block, in bytes, for search windows with the layout
/// `atlas`.
template <int N, class Staging>
std::size_t shared_bytes(const WindowAtlas& atlas, int depth) {
  return sizeof(BlockMemory<N, Staging>) +
         2 * sizeof(std::uint32_t) * (static_cast<std::size_t>(depth) * atlas.words + 1);
}

/// Chooses the number of reference patches per thread block so that a multiprocessor executes the
/// most warps. For groups of 64 members, one large block and two small blocks may give the same
/// number of warps. The function then chooses the small blocks, because one block can filter while
/// the other block waits for samples.
template <int N>
WindowAtlas plan_atlas(const WindowWork& work, const cuda::DeviceLimits& limits) {
  // Number of warps for which a multiprocessor has enough registers.
  constexpr int max_warps = N == 64 ? 8 : 16;
  constexpr std::array<std::array<int, 2>, 4> shapes{
      {{N == 64 ? 2 : 4, 2}, {N == 64 ? 4 : 2, 2}, {2, 1}, {1, 1}}};
  WindowAtlas best;
  int best_warps = 1;  // with fewer warps, reading from device memory is faster
  for (const auto [across, down] : shapes) {
    const WindowAtlas atlas = smallest_atlas(work, across, down);
    const std::size_t bytes = shared_bytes<N, InSharedMemory>(atlas, work.depth);
    const int groups = across * down;
    const int warps = std::min(limits.blocks(32 * groups, bytes), max_warps / groups) * groups;
    if (warps > best_warps) best = atlas, best_warps = warps;
  }
  return best;
}

/// Moves the plane pointers in `job` to the middle of all frames, so that 32-bit offsets reach all
/// samples (require_addressable(), address_range.h).
void centre_planes(FilterJob& job) {
  std::ptrdiff_t first = 0, last = 0;
  for (int k = 0; k < job.args.pairs; ++k)
    for (const std::ptrdiff_t distance : job.args.pair[k].distance)
      first = std::min(first, distance), last = std::max(last, distance);
  const std::ptrdiff_t middle = first + (last - first) / 2;
  if (!fits_narrow_offsets(last - middle, static_cast<std::int64_t>(job.args.margins.size())))
    throw InternalError(
        "frames too far apart in device memory (require_addressable() was not asked); report it");
  for (int k = 0; k < job.args.pairs; ++k)
    for (std::ptrdiff_t& distance : job.args.pair[k].distance) distance -= middle;
  job.plane.noisy += middle;
  if (job.plane.basic != nullptr) job.plane.basic += middle;
  job.plane.sums.numerator += middle;
  job.plane.sums.denominator += middle;
}

template <int N, bool uses_basic>
void launch(const BayesArgs& args, const BayesParams& params, const BayesPlane& plane,
            cudaStream_t stream) {
  FilterJob job{.args = args,
                .work = {params.window, params.temporal_window, args.side, args.depth,
                         args.grid.step, args.pairs},
                .plane = plane,
                .scale = half_scale(plane.sigma, params.threshold),
                .sharpenings = params.sharpenings};
  job.atlas = plan_atlas<N>(job.work, cuda::device_limits());
  const bool uses_atlas = job.atlas.words > 0;
  if (!uses_atlas) {
    job.atlas.across = 4, job.atlas.down = 2;
    centre_planes(job);
  }
  const int first = args.first_row / job.atlas.down;
  const int last = (args.first_row + args.rows - 1) / job.atlas.down;
  const int blocks = (args.columns + job.atlas.across - 1) / job.atlas.across * (last - first + 1);
  const auto run = [&]<class Staging>(Staging) {
    const auto kernel = bayes_filter_kernel<N, uses_basic, Staging>;
    cuda::allow_shared_memory(kernel);
    kernel<<<blocks, 32 * job.atlas.groups(), shared_bytes<N, Staging>(job.atlas, args.depth),
             stream>>>(job);
    cuda::check(cudaGetLastError());
  };
  if (uses_atlas)
    run(InSharedMemory{});
  else
    run(InDeviceMemory{});
}

}  // namespace

void bayes_filter(const BayesArgs& args, const BayesParams& params, const BayesPlane& plane,
                  cudaStream_t stream) {
  if (plane.basic != nullptr)
    launch<32, true>(args, params, plane, stream);
  else if (params.group == 64)
    launch<64, false>(args, params, plane, stream);
  else
    launch<32, false>(args, params, plane, stream);
}

}  // namespace lull::bm3d
