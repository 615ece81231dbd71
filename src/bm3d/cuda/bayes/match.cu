// Groups of patches that lie in two frames, in floats: a thread block for a reference patch.
//
// The reference patch and the search windows lie in shared memory, as many windows at a time as fit
// there. A thread takes three candidates beside each other, whose patches share most samples, row
// by row of the windows. Distances are kept as words, which compare as their floats do. Those of
// the group are not beyond a bound that is found by halving; they are ranked by counting. Equal
// distances keep the order of group.h.

#include <algorithm>

#include "bm3d/cuda/bayes/kernels.h"
#include "bm3d/cuda/bayes/windows.cuh"
#include "core/round_up.h"
#include "cuda/check.h"
#include "cuda/shared_memory.h"

namespace lull::bm3d {
namespace {

constexpr int match_threads = 160, match_warps = match_threads / 32;
constexpr int own_pitch = (max_wide_side + 3) / 4 * 4;  // of the reference patch, read by fours
constexpr int beside = 3;                               // candidates that a thread takes at a time
constexpr int most_chosen = 64;
constexpr std::uint32_t infinite = 0x7f800000, no_distance = 0xffffffff;

/// Rows of candidates begin three samples apart: with such a pitch in few of the same banks.
constexpr int window_pitch(int extent) {
  while (extent % 6 != 3) ++extent;
  return extent;
}

struct Windows {
  int window, temporal_window;  // sides
  int group;
  int distances;            // of all candidates, filled up to a multiple of match_threads
  int together;             // windows in shared memory at a time
  int most_floats, floats;  // of the first window there, and of each other one
  float bonus;
};

/// The samples of both frames that patches of a window have. Beyond the plane: its last ones.
__device__ void load_window(const BayesArgs& a, const BayesPair& pair, const SearchWindow& at,
                            const float* guide, float* to) {
  const int extent = at.side + a.side - 1, pitch = window_pitch(extent);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int k = 0; k < a.depth; ++k) {
    const int left = at.left + k * at.second_x, top = at.top + k * at.second_y;
    const float* const from = guide + pair.distance[k];
    for (int row = warp; row < extent; row += match_warps) {
      const int y = min(max(top + row, 0), a.margins.height - 1);
      for (int column = lane; column < extent; column += 32) {
        const int x = min(max(left + column, 0), a.margins.width - 1);
        to[(k * extent + row) * pitch + column] = from[a.margins.at(x, y)];
      }
    }
  }
}

/// Squared differences of the reference patch and of candidates beside each other. Side 0: `side`.
template <int Side>
__device__ void add_differences(const float* own, const float* window, int pitch, int side,
                                float (&sum)[beside]) {
  if constexpr (Side == 0) {
    for (int row = 0; row < side; ++row)
      for (int column = 0; column < side; ++column)
        for (int k = 0; k < beside; ++k) {
          const float difference = own[row * own_pitch + column] - window[row * pitch + column + k];
          sum[k] += difference * difference;
        }
  } else {
#pragma unroll 2
    for (int row = 0; row < Side; ++row) {
      float other[Side + beside - 1], samples[own_pitch];
#pragma unroll
      for (int c = 0; c < Side; c += 4)
        *reinterpret_cast<float4*>(samples + c) =
            *reinterpret_cast<const float4*>(own + row * own_pitch + c);
#pragma unroll
      for (int c = 0; c < Side + beside - 1; ++c) other[c] = window[row * pitch + c];
#pragma unroll
      for (int c = 0; c < Side; ++c)
#pragma unroll
        for (int k = 0; k < beside; ++k) {
          const float difference = samples[c] - other[c + k];
          sum[k] += difference * difference;
        }
    }
  }
}

__device__ inline bool is_inside(const BayesArgs& a, int x, int y) {
  return x >= 0 && y >= 0 && x <= a.margins.width - a.side && y <= a.margins.height - a.side;
}

/// The distances of candidates `place`, `place + 1` .. of row `row` of pair k's window, to where
/// the window's are kept. Gives how many there are.
template <int Side>
__device__ int compare(const BayesArgs& a, const Windows& w, int k, const SearchWindow& at,
                       const float* own, const float* window, int row, int place,
                       std::uint32_t* distances) {
  const int extent = at.side + a.side - 1, pitch = window_pitch(extent);
  float sum[beside] = {};
  for (int frame = 0; frame < a.depth; ++frame)
    add_differences<Side>(own + frame * a.side * own_pitch,
                          window + (frame * extent + row) * pitch + place, pitch, a.side, sum);
  int found = 0;
#pragma unroll
  for (int c = 0; c < beside; ++c) {
    const int u = at.left + place + c, v = at.top + row, number = row * at.side + place + c;
    const bool inside = is_inside(a, u, v) && is_inside(a, u + at.second_x, v + at.second_y);
    const bool centre = number == at.side * at.side / 2;
    if (place + c >= at.side || !inside || (centre && k == 0)) continue;
    float distance = sum[c] / static_cast<float>(a.depth * a.side * a.side);
    if (centre) distance = fmaxf(0.0f, distance - w.bonus);
    distances[number] = __float_as_uint(distance);
    ++found;
  }
  return found;
}

/// The least value that `wanted` distances are not beyond, or a greater one with the same ones.
/// `counts`: 32 zeros.
__device__ std::uint32_t bound_of(const std::uint32_t* distances, int count, int wanted,
                                  int* counts) {
  std::uint32_t low = 0, high = infinite;
  for (int step = 0; low < high; ++step) {
    const std::uint32_t middle = (low + high) / 2;
    int here = 0;
    for (int n = threadIdx.x; n < count; n += match_threads)
      here += __popc(__ballot_sync(~0u, distances[n] <= middle));
    if (threadIdx.x % 32 == 0) atomicAdd(counts + step, here);
    __syncthreads();
    if (counts[step] == wanted) return middle;
    if (counts[step] > wanted)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/// One warp: the `wanted` least distances, with the candidates' numbers in their lower half. Of
/// those at the bound the first.
__device__ void choose(const std::uint32_t* distances, int count, std::uint32_t bound, int wanted,
                       unsigned long long* chosen) {
  const int lane = threadIdx.x % 32;
  const unsigned before = (1u << lane) - 1;
  int equal = wanted;  // at the bound
  for (int n = lane; n < count; n += 32) equal -= __popc(__ballot_sync(~0u, distances[n] < bound));
  for (int n = lane, placed = 0; n < count; n += 32) {
    const std::uint32_t distance = distances[n];
    const unsigned ties = __ballot_sync(~0u, distance == bound);
    const bool taken = distance < bound || (distance == bound && __popc(ties & before) < equal);
    const unsigned all = __ballot_sync(~0u, taken);
    if (taken)
      chosen[placed + __popc(all & before)] =
          static_cast<unsigned long long>(distance) << 32 | static_cast<unsigned>(n);
    placed += __popc(all);
    equal -= __popc(ties);
  }
}

template <int Side>
__global__ void __launch_bounds__(match_threads)
    bayes_match_kernel(const BayesArgs a, const Windows w, const float* guide) {
  extern __shared__ __align__(16) float window_memory[];
  __shared__ __align__(16) float own[2 * max_wide_side * own_pitch];
  __shared__ SearchWindow windows[max_frames];
  __shared__ unsigned long long chosen[most_chosen];
  __shared__ int counts[32], found;
  auto* const distances =
      reinterpret_cast<std::uint32_t*>(window_memory + w.most_floats + (w.together - 1) * w.floats);
  const int reference = blockIdx.x, i = reference % a.columns;
  const int j = a.first_row + reference / a.columns;
  const int x = reference_position(i, a.margins.width, a.grid.step, a.side);
  const int y = reference_position(j, a.margins.height, a.grid.step, a.side);
  for (int row = threadIdx.x / 16; row < a.depth * a.side; row += match_threads / 16) {
    const int frame = row / a.side, column = threadIdx.x % 16;
    if (column < own_pitch)
      own[row * own_pitch + column] =
          column < a.side
              ? guide[a.pair[0].distance[frame] + a.margins.at(x + column, y + row % a.side)]
              : 0.0f;
  }
  for (int n = threadIdx.x; n < w.distances; n += match_threads) distances[n] = no_distance;
  if (threadIdx.x < 32) counts[threadIdx.x] = 0;
  if (threadIdx.x == 0) found = 0;
  if (threadIdx.x < a.pairs)
    windows[threadIdx.x] = window_of(a, w.window, w.temporal_window, threadIdx.x, x, y, i, j);
  __syncthreads();

  const int own_area = w.window * w.window, area = w.temporal_window * w.temporal_window;
  const auto numbers_of = [&](int k) { return k == 0 ? 0 : own_area + (k - 1) * area; };
  const auto memory_of = [&](int k) {
    return window_memory + (k == 0 ? 0 : w.most_floats + (k - 1) * w.floats);
  };
  const auto runs_of = [&](int side) { return (side + beside - 1) / beside; };
  int mine = 0;
  for (int first = 0; first < a.pairs; first += w.together) {
    const int end = min(first + w.together, a.pairs);
    for (int k = first; k < end; ++k)
      load_window(a, a.pair[k], windows[k], guide, memory_of(k - first));
    __syncthreads();
    const int first_runs = first == 0 ? w.window * runs_of(w.window) : 0;
    const int runs = runs_of(w.temporal_window), each = w.temporal_window * runs;
    const int all = first_runs + (end - max(first, 1)) * each;
    for (int n = threadIdx.x; n < all; n += match_threads) {
      int k = 0, run = n, in_row = runs_of(w.window);
      if (n >= first_runs) {
        k = max(first, 1) + (n - first_runs) / each;
        run = (n - first_runs) % each;
        in_row = runs;
      }
      mine += compare<Side>(a, w, k, windows[k], own, memory_of(k - first), run / in_row,
                            run % in_row * beside, distances + numbers_of(k));
    }
    __syncthreads();
  }
  if (mine > 0) atomicAdd(&found, mine);
  __syncthreads();

  const int wanted = min(found, w.group - 1);
  const std::uint32_t bound = bound_of(distances, w.distances, wanted, counts);
  if (threadIdx.x < 32) choose(distances, w.distances, bound, wanted, chosen);
  __syncthreads();
  std::uint32_t* const members = a.members + static_cast<std::size_t>(reference) * w.group;
  for (int m = threadIdx.x; m < wanted; m += match_threads) {
    const unsigned long long key = chosen[m];
    int rank = 1;
    for (int n = 0; n < wanted; ++n) rank += chosen[n] < key ? 1 : 0;
    const int number = static_cast<int>(key & 0xffffffffu);
    const int k = number < own_area ? 0 : 1 + (number - own_area) / area;
    const SearchWindow at = windows[k];
    const int place = number - numbers_of(k);
    members[rank] = pack_displacement(at.left + place % at.side - x, at.top + place / at.side - y,
                                      a.pair[k].offset);
  }
  if (threadIdx.x == 0) {
    members[0] = pack_displacement(0, 0, 0);
    a.counts[reference] = static_cast<std::uint8_t>(wanted + 1);
  }
}

/// How the windows lie in `budget` bytes of shared memory; in more where one does not fit.
Windows lay_out(const BayesArgs& args, const BayesParams& params, std::size_t budget) {
  const auto floats = [&](int window) {
    const int extent = window + args.side - 1;
    // Candidates beyond the last of a row are read, too, for nobody.
    return args.depth * extent * window_pitch(extent) + beside;
  };
  const int candidates = params.window * params.window +
                         (args.pairs - 1) * params.temporal_window * params.temporal_window;
  Windows windows{.window = params.window,
                  .temporal_window = params.temporal_window,
                  .group = params.group,
                  .distances = round_up(candidates, match_threads),
                  .together = 1,
                  .most_floats = std::max(floats(params.window), floats(params.temporal_window)),
                  .floats = floats(params.temporal_window),
                  .bonus = params.place_bonus};
  const auto fit = static_cast<int>(budget / sizeof(float)) - windows.most_floats;
  windows.together = std::clamp(1 + fit / windows.floats, 1, args.pairs);
  return windows;
}

template <int Side>
void launch_match(const BayesArgs& args, const BayesParams& params, const float* guide,
                  cudaStream_t stream) {
  constexpr std::size_t budget = 28 * 1024;  // leaves room for the distances, and six blocks
  const Windows windows = lay_out(args, params, budget);
  const std::size_t words =
      windows.most_floats + (windows.together - 1) * windows.floats + windows.distances;
  cuda::allow_shared_memory(bayes_match_kernel<Side>);
  bayes_match_kernel<Side>
      <<<args.columns * args.rows, match_threads, words * sizeof(float), stream>>>(args, windows,
                                                                                   guide);
  cuda::check(cudaGetLastError());
}

}  // namespace

void bayes_match(const BayesArgs& args, const BayesParams& params, const float* guide,
                 cudaStream_t stream) {
  switch (args.side) {
    case 8:
      return launch_match<8>(args, params, guide, stream);
    case 9:
      return launch_match<9>(args, params, guide, stream);
    case 10:
      return launch_match<10>(args, params, guide, stream);
    default:
      return launch_match<0>(args, params, guide, stream);
  }
}

}  // namespace lull::bm3d
