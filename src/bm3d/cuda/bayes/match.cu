// Finds the groups of a Bayes phase. Thread blocks have fixed positions on the grid, so results do
// not depend on the division of the rows into launches.

// At any time, shared memory contains as many search windows as fit (match_layout.h).

// After the last search window, one warp selects the group of each reference patch
// (match_choose.cuh). Candidates with equal distances are in the order of match/group.h.

// Samples in shared memory are half-precision differences from a common offset of the thread block.

#include <algorithm>

#include "bm3d/cuda/bayes/kernels.h"
#include "bm3d/cuda/bayes/match_choose.cuh"
#include "bm3d/cuda/bayes/match_windows.cuh"
#include "cuda/check.h"
#include "cuda/shared_memory.h"

namespace lull::bm3d {
namespace {

constexpr int invalid_reference = 1 << 20;  // position of a reference patch that does not exist

/// The reference patches of a thread block, and their search windows.
struct MatchBlock {
  int i, j, x, y;  // the first reference patch
  int dx[match_references], dy[match_references];
  MatchWindow windows[max_frames];
  unsigned long long chosen[match_references][max_chosen];
};

__device__ void find_block(const MatchJob& job, MatchBlock& block) {
  const BayesArgs& a = job.args;
  const BayesMatchPlan& plan = job.plan;
  const int blocks_across = (a.columns + plan.across - 1) / plan.across;
  const int i0 = static_cast<int>(blockIdx.x) % blocks_across * plan.across;
  const int j0 =
      (a.first_row / plan.down + static_cast<int>(blockIdx.x) / blocks_across) * plan.down;
  const auto x_of = [&](int i) {
    return reference_position(i, a.margins.width, a.grid.step, a.side);
  };
  const auto y_of = [&](int j) {
    return reference_position(j, a.margins.height, a.grid.step, a.side);
  };
  const int x = x_of(i0), y = y_of(j0), n = threadIdx.x;
  if (n < match_references) {
    const int i = i0 + n % plan.across, j = j0 + n / plan.across;
    const bool exists =
        n < plan.references() && i < a.columns && j >= a.first_row && j < a.first_row + a.rows;
    block.dx[n] = exists ? x_of(i) - x : invalid_reference;
    block.dy[n] = exists ? y_of(j) - y : invalid_reference;
  }
  if (n < a.pairs)
    block.windows[n] =
        match_window(a, window_of(a, job.plan.own.side, job.plan.other.side, n, x, y, i0, j0));
  if (n == 0) block.i = i0, block.j = j0, block.x = x, block.y = y;
}

/// For each frame pair except the first, subtracts the motion bias from the distance of the
/// candidate that motion predicts. Excludes the reference patch from the candidates.
__device__ void apply_motion_bias(const MatchJob& job, std::uint32_t* distances) {
  const int own_area = job.plan.own.area(), area = job.plan.other.area();
  const int k = threadIdx.x % 32;
  if (k < job.args.pairs) {
    std::uint32_t& d = distances[k == 0 ? own_area / 2 : own_area + (k - 1) * area + area / 2];
    if (k == 0)
      d = no_distance;
    else if (d < infinite)
      d = __float_as_uint(fmaxf(0.0f, __uint_as_float(d) - job.motion_bias));
  }
  __syncwarp();
}

/// Selects the group of reference patch `n` of the block, with one warp.
__device__ void find_group(const MatchJob& job, MatchBlock& block, int n,
                           std::uint32_t* distances) {
  const BayesArgs& a = job.args;
  const BayesMatchPlan& plan = job.plan;
  const int lane = threadIdx.x % 32;
  for (int k = plan.candidates + lane; k < plan.stride; k += 32) distances[k] = no_distance;
  apply_motion_bias(job, distances);
  const Bound bound = find_bound(distances, plan.stride, job.group - 1);
  if (bound.has_surplus)
    choose_first(distances, plan.stride, bound, block.chosen[n]);
  else
    choose_all(distances, plan.stride, bound, block.chosen[n]);
  __syncwarp();
  const int i = block.i + n % plan.across, j = block.j + n / plan.across;
  const std::size_t reference = static_cast<std::size_t>(j - a.first_row) * a.columns + i;
  std::uint32_t* const members = a.members + reference * job.group;
  const int own_area = plan.own.area(), area = plan.other.area();
  for_each_ranked(block.chosen[n], bound.wanted, [&](int rank, int number) {
    const int k = number < own_area ? 0 : 1 + quotient(number - own_area, plan.other.area_inverse);
    const int place = k == 0 ? number : number - own_area - (k - 1) * area;
    const int row = quotient(place, k == 0 ? plan.own.side_inverse : plan.other.side_inverse);
    const SearchWindow& at = block.windows[k].at;
    members[rank + 1] = pack_displacement(at.left + place - row * at.side - block.x,
                                          at.top + row - block.y, a.pair[k].offset);
  });
  if (lane == 0) {
    members[0] = pack_displacement(0, 0, 0);
    a.counts[reference] = static_cast<std::uint8_t>(bound.wanted + 1);
  }
}

/// Finds the groups of neighbouring reference patches, with one thread block. If `Typical` is true,
/// the sizes of the search windows are compile-time constants (typical_plan()).
template <int Side, bool Typical>
__global__ void __launch_bounds__(match_threads, 3)
    bayes_match_kernel(const MatchJob job, const float* guide) {
  extern __shared__ __align__(16) std::uint32_t match_memory[];
  __shared__ MatchBlock block;
  const BayesArgs& a = job.args;
  const BayesMatchPlan& plan = job.plan;
  constexpr BayesMatchPlan typical = typical_plan(Side);
  const JoinedWindows own = Typical ? typical.own : plan.own;
  const JoinedWindows other = Typical ? typical.other : plan.other;
  float* const all_sums = reinterpret_cast<float*>(match_memory + plan.words());
  std::uint32_t* const distances = match_memory + plan.words() + plan.sums();
  find_block(job, block);
  __syncthreads();
  const float level = guide[a.margins.at(block.x + a.side / 2, block.y + a.side / 2)];
  const int warp = threadIdx.x / 32;
  const auto words_of = [&](int slot) {
    return match_memory + (slot == 0 ? 0 : plan.max_window_words() + (slot - 1) * other.words);
  };
  const auto sums_of = [&](int slot) {
    return all_sums + (slot == 0 ? 0 : plan.max_window_sums() + (slot - 1) * other.sums());
  };
  References<Side> references;
  for (int first = 0; first < a.pairs; first += plan.windows_at_once) {
    const int end = min(first + plan.windows_at_once, a.pairs);
    // Calls use(windows, pair, slot) for each search window in shared memory. `slot` is the index
    // of the window in shared memory.
    const auto for_windows = [&](auto use) {
      if (first == 0) use(own, 0, 0);
      for (int k = max(first, 1); k < end; ++k) use(other, k, k - first);
    };
    for_windows([&](const JoinedWindows& w, int k, int slot) {
      load_window<Side>(a, w, a.pair[k], block.windows[k].at, guide, level, words_of(slot));
    });
    __syncthreads();
    for_windows([&](const JoinedWindows& w, int, int slot) {
      sum_squares<Side>(w, words_of(slot), sums_of(slot));
    });
    __syncthreads();
    for_windows([&](const JoinedWindows& w, int k, int slot) {
      sum_rows<Side>(w, block.windows[k], sums_of(slot));
    });
    __syncthreads();
    if (first == 0)
      load_references(own, plan.stride, block.dx, block.dy, match_memory, all_sums, distances,
                      references);
    int tile = warp, numbers = first == 0 ? 0 : own.area() + (first - 1) * other.area();
    for_windows([&](const JoinedWindows& w, int, int slot) {
      for (; tile < w.tiles(); tile += match_warps)
        compare_tile(w, words_of(slot), sums_of(slot), tile, numbers, references);
      tile -= w.tiles();
      numbers += w.area();
    });
    __syncthreads();
  }
  for (int n = warp; n < plan.references(); n += match_warps)
    if (block.dx[n] != invalid_reference) find_group(job, block, n, distances + n * plan.stride);
}

template <int Side, bool Typical>
void launch(const MatchJob& job, const float* guide, cudaStream_t stream) {
  const auto kernel = bayes_match_kernel<Side, Typical>;
  const BayesArgs& a = job.args;
  const int across = (a.columns + job.plan.across - 1) / job.plan.across;
  const int first = a.first_row / job.plan.down;
  const int last = (a.first_row + a.rows - 1) / job.plan.down;
  cuda::allow_shared_memory(kernel);
  kernel<<<across*(last - first + 1), match_threads, job.plan.bytes(), stream>>>(job, guide);
  cuda::check(cudaGetLastError());
}

template <int Side>
void launch_match(const MatchJob& job, const float* guide, cudaStream_t stream) {
  constexpr BayesMatchPlan typical = typical_plan(Side);
  if (job.plan.own == typical.own && job.plan.other == typical.other)
    launch<Side, true>(job, guide, stream);
  else
    launch<Side, false>(job, guide, stream);
}

}  // namespace

void bayes_match(const BayesArgs& args, const BayesParams& params, const float* guide,
                 cudaStream_t stream) {
  const MatchWork work{params.window, params.temporal_window, args.side,
                       args.depth,    args.grid.step,         args.pairs};
  const int samples = args.depth * args.side * args.side;
  const MatchJob job{.args = args,
                     .plan = match_plan(work, cuda::device_limits()),
                     .group = params.group,
                     .motion_bias = params.motion_bias * static_cast<float>(samples)};
  if (kernel_side(args.side) == 10)
    launch_match<10>(job, guide, stream);
  else
    launch_match<8>(job, guide, stream);
}

}  // namespace lull::bm3d
