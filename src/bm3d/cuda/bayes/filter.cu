// A group's estimates by the covariance of its patches: a warp for a group.
//
// A thread block takes neighbouring reference patches, whose windows lie in shared memory, samples
// and sums alike (sheet.cuh). A warp has all matrices of its group in registers (blocks.cuh) and
// waits for no other; products run on the tensor cores, halves with float sums:
//   1. the Gram matrix G = Y Y' / n of the patches (or of the basic estimate's, B B' / n), in
//      floats; patches are read from the windows as operands, there are no copies of them;
//   2. (G + t I)^-1, in floats;
//   3. the noisy patches' own spectrum: P = I - t (G + t I)^-1, sharpened by P <- P^2 (3 - 2 P).
//      Another spectrum: W = Y B' / n (G + t I)^-1 = I + ((Y - B) B' / n - t I) (G + t I)^-1, where
//      nothing large is made of what cancels out;
//   4. X = P Y or W B, 16 samples of all patches at a time, which are added to the sums, integers
//      (filter.cuh), so that their order does not matter.
// At the end each sum of the windows is added to the one in device memory.
//
// Groups are filled up with the reference patch, whose rows and columns of G are zero then, and so
// those of P and W.

#include <algorithm>
#include <array>

#include "bm3d/cuda/bayes/kernels.h"
#include "bm3d/cuda/bayes/sheet.cuh"
#include "bm3d/cuda/bayes/spectrum.cuh"
#include "core/round_up.h"
#include "cuda/check.h"
#include "cuda/shared_memory.h"

namespace lull::bm3d {
namespace {

constexpr int most_groups = 8;  // of a thread block

/// What a block has in shared memory before its sheets.
template <int N, class Staging>
struct BlockMemory {
  SamplePair pairs[sample_pair_places];
  SheetWindow windows[max_frames];
  typename Staging::Patch patches[most_groups][N];
};

/// Everything that the kernel is told.
struct FilterJob {
  BayesArgs args;
  WindowWork work;
  WindowSheet sheet;
  BayesPlane plane;
  float threshold;
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
    return {frame * job.sheet.words + row * job.sheet.pitch + column, mask};
  const int offset = row * a.margins.pitch + column;
  return {frame > 0 ? ~offset : offset, mask};
}

/// Where the members of a group lie; patches that begin in a frame are counted there.
template <int N, class Staging>
__device__ void find_patches(const FilterJob& job, const SheetWindow* windows, int i, int j,
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
    const int at[2] = {a.margins.at(x, y) + a.pair[k].distance[0],
                       a.margins.at(x + second.x, y + second.y) + a.pair[k].distance[1]};
    for (int frame = 0; frame < a.depth; ++frame)
      if (m < count) atomicAdd(job.plane.sums.denominator + at[frame], 1u);
    if constexpr (Staging::shared) {
      const SheetWindow& w = windows[k];
      patches[m] = w.first + (y - w.top) * job.sheet.pitch + x - w.left;
    } else {
      patches[m] = {at[0], at[1]};
    }
  }
  __syncwarp();
}

/// Step 1 and 2 of the head comment: the inverse in `gram`; of another spectrum (Y - B) B' / n in
/// `shared`. `mean`: of the noisy patches, then of those of the spectrum, which `own` has.
template <int T, bool by_basic, class Samples, class Patch>
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
    if constexpr (by_basic) y.load(noise, patch, pairs + 8 * step);
#pragma unroll
    for (int i = 0; i < T; ++i) {
      std::uint32_t left[4];
      b.left(i, left);
#pragma unroll
      for (int r = 0; r < 2 * i + 2; ++r)
        gram[i][r / 2].half[r % 2] =
            multiply(left, b.first[r], b.second[r], gram[i][r / 2].half[r % 2]);
      sums.add(left, i);
      if constexpr (!by_basic) continue;
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
      take_means_off(gram[i][j], i, j, correction, correction, count, -share);
    add_to_diagonal(gram[i][i], -threshold);
  }
  if constexpr (by_basic) {
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
        take_means_off(shared[i][j], i, j, of_noise, correction, count, share);
  }
  sweep(gram);
}

/// X = w (b - mean), 16 samples of all patches at a time, to the sums. In the first `whole_steps`
/// of the steps patches have all samples.
template <int T, class Samples, class Estimates, class Patch>
__device__ __forceinline__ void add_estimates(const Weights<T>& weights, const Samples& samples,
                                              const Estimates& estimates, const Patch* patches,
                                              const SamplePair* pairs, int steps, int whole_steps,
                                              int count, float mean) {
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  FloatSums of_mean[T];  // the same for all samples
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
    FloatSums sum[2][T];  // of pairs' first samples, of their second ones
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
    if (step < whole_steps && count == 16 * T)
      add(std::true_type{});
    else
      add(std::false_type{});
  }
}

template <int N, bool by_basic, class Staging>
__global__ void __launch_bounds__(32 * most_groups, N == 64 ? 1 : 2)
    bayes_filter_kernel(const FilterJob job) {
  extern __shared__ __align__(16) unsigned char memory[];
  constexpr int T = N / 16;
  const BayesArgs& a = job.args;
  auto& block = *reinterpret_cast<BlockMemory<N, Staging>*>(memory);
  auto* const words = reinterpret_cast<std::uint32_t*>(memory + sizeof(block));
  const int sheet_words = a.depth * job.sheet.words;
  // Differences from a basic estimate, then the sums.
  std::uint32_t* const others = words + sheet_words + 1;
  int* const sums = reinterpret_cast<int*>(others);
  const float* const own = by_basic ? job.plane.basic : job.plane.noisy;

  const BlockPlace place(a, job.sheet);
  if (threadIdx.x < a.pairs)
    block.windows[threadIdx.x] = sheet_window(a, job.work, job.sheet, place, threadIdx.x);
  const int pairs = sample_pairs(a), steps = (pairs + 7) / 8;
  for (int n = threadIdx.x; n < 8 * steps; n += blockDim.x)
    block.pairs[n] = sample_pair<Staging>(job, n);
  const float level = own[a.margins.at(place.x + a.side / 2, place.y + a.side / 2)];
  const Measure measure{level, 1 / job.plane.sigma};
  __syncthreads();
  if constexpr (Staging::shared) {
    auto *const samples = reinterpret_cast<float*>(words), *const noisy =
                                                               reinterpret_cast<float*>(others);
    load_samples(a, job.sheet, block.windows, own, samples);
    if constexpr (by_basic)
      load_samples(a, job.sheet, block.windows, job.plane.noisy, noisy);
    else
      for (int n = threadIdx.x; n < sheet_words; n += blockDim.x) sums[n] = 0;
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    make_words<by_basic>(measure, sheet_words, samples, noisy);
    __syncthreads();
  }

  const int warp = threadIdx.x / 32;
  const int i = place.i + warp % job.sheet.across, j = place.j + warp / job.sheet.across;
  const bool active = i < a.columns && j >= a.first_row && j < a.first_row + a.rows;
  const int count = active ? a.counts[(j - a.first_row) * a.columns + i] : 0;
  auto* const patches = block.patches[warp];
  Weights<T> weights;
  float mean[2];
  typename Staging::Samples spectrum, noise;
  if constexpr (Staging::shared)
    spectrum = {words}, noise = {others};
  else
    spectrum = {own, nullptr, measure}, noise = {job.plane.noisy, job.plane.basic, measure};
  if (active) {
    find_patches<N, Staging>(job, block.windows, i, j, count, patches);
    Block gram[T][T] = {}, shared[T][T] = {};
    find_spectrum<T, by_basic>(spectrum, noise, patches, block.pairs, steps, count,
                               a.depth * a.side * a.side, job.threshold, gram, shared, mean);
    if constexpr (by_basic) {
      weights_of_basic(shared, gram, job.threshold, weights);
    } else {
      weights_of_own(gram, job.threshold, weights);
#pragma unroll 1
      for (int k = 0; k < job.sharpenings; ++k) sharpen(weights);
    }
  }
  if constexpr (Staging::shared && by_basic) {
    __syncthreads();
    for (int n = threadIdx.x; n < sheet_words; n += blockDim.x) sums[n] = 0;
    __syncthreads();
  }
  if (active)
    add_estimates(weights, spectrum,
                  typename Staging::Estimates(sums, job.plane.sums.numerator, job.plane.sigma,
                                              level + mean[0] * job.plane.sigma),
                  patches, block.pairs, steps, a.side % 2 == 0 ? pairs / 8 : 0, count, mean[1]);
  if constexpr (Staging::shared) {
    __syncthreads();
    give_sums(a, job.sheet, block.windows, sums, job.plane.sums.numerator);
  }
}

/// What a block that filters so many groups needs.
template <int N, class Staging>
std::size_t shared_bytes(const WindowSheet& sheet, int depth) {
  return sizeof(BlockMemory<N, Staging>) +
         2 * sizeof(std::uint32_t) * (static_cast<std::size_t>(depth) * sheet.words + 1);
}

/// As many reference patches to a block as keep the most warps at work. Of as many warps, two
/// blocks of groups of 64 do better than one: one filters while the other waits for its windows.
template <int N>
WindowSheet plan_sheet(const WindowWork& work, const cuda::DeviceLimits& limits) {
  constexpr int most_warps = N == 64 ? 8 : 16;  // that have the registers
  constexpr std::array<std::array<int, 2>, 4> shapes{
      {{N == 64 ? 2 : 4, 2}, {N == 64 ? 4 : 2, 2}, {2, 1}, {1, 1}}};
  WindowSheet best;
  int best_warps = 1;  // fewer do better without sheets
  for (const auto [across, down] : shapes) {
    const WindowSheet sheet = smallest_sheet(work, across, down);
    const std::size_t bytes = shared_bytes<N, OnSheet>(sheet, work.depth);
    const int groups = across * down;
    const int warps = std::min(limits.blocks(32 * groups, bytes), most_warps / groups) * groups;
    if (warps > best_warps) best = sheet, best_warps = warps;
  }
  return best;
}

template <int N, bool by_basic>
void launch(const BayesArgs& args, const BayesParams& params, const BayesPlane& plane,
            cudaStream_t stream) {
  FilterJob job{.args = args,
                .work = {params.window, params.temporal_window, args.side, args.depth,
                         args.grid.step, args.pairs},
                .plane = plane,
                .threshold = params.threshold,
                .sharpenings = params.sharpenings};
  job.sheet = plan_sheet<N>(job.work, cuda::device_limits());
  const bool on_sheet = job.sheet.words > 0;
  if (!on_sheet) job.sheet.across = 4, job.sheet.down = 2;
  const int first = args.first_row / job.sheet.down;
  const int last = (args.first_row + args.rows - 1) / job.sheet.down;
  const int blocks = (args.columns + job.sheet.across - 1) / job.sheet.across * (last - first + 1);
  const auto run = [&]<class Staging>(Staging) {
    const auto kernel = bayes_filter_kernel<N, by_basic, Staging>;
    cuda::allow_shared_memory(kernel);
    kernel<<<blocks, 32 * job.sheet.groups(), shared_bytes<N, Staging>(job.sheet, args.depth),
             stream>>>(job);
    cuda::check(cudaGetLastError());
  };
  if (on_sheet)
    run(OnSheet{});
  else
    run(InPlanes{});
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
