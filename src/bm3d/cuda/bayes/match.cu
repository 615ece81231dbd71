// Groups of patches that lie in two frames, in floats: a thread block for a reference patch.
//
// The reference patch lies in shared memory. Each thread takes candidates of its own, row by row of
// the windows, so that neighbouring threads read neighbouring samples; distances become keys, with
// the candidate's number in their lower half. A bitonic sort puts the best in front. Equal
// distances keep the order of group.h.

#include "bm3d/cuda/bayes/kernels.h"
#include "cuda/check.h"
#include "cuda/shared_memory.h"

namespace lull::bm3d {
namespace {

constexpr int match_threads = 128;

struct Windows {
  int window, temporal_window;  // sides
  int group, keys;              // keys: a power of two
  float bonus;
};

/// Where the candidates of a reference patch lie in the frames of a pair.
struct SearchWindow {
  int left, top, side;
};

__device__ SearchWindow window_of(const BayesArgs& a, const Windows& w, int k, int x, int y, int i,
                                  int j) {
  const BayesPair& pair = a.pair[k];
  const int side = pair.offset == 0 ? w.window : w.temporal_window;
  if (pair.motion == nullptr) return {x - side / 2, y - side / 2, side};
  const Motion m = a.grid.vector(pair.motion, i / motion_columns * motion_columns,
                                 j / motion_rows * motion_rows);
  return {x + m.x - side / 2, y + m.y - side / 2, side};
}

__device__ float distance_to(const BayesArgs& a, const BayesPair& pair, const float* guide,
                             const float* own, int u, int v) {
  float sum = 0;
  for (int k = 0; k < a.depth; ++k) {
    const float* from = guide + pair.distance[k] + a.margins.at(u, v);
    for (int row = 0; row < a.side; ++row, from += a.margins.pitch)
      for (int column = 0; column < a.side; ++column) {
        const float difference = *own++ - from[column];
        sum += difference * difference;
      }
  }
  return sum / static_cast<float>(a.depth * a.side * a.side);
}

/// Rising, `count` a power of two.
__device__ void sort_keys(unsigned long long* keys, int count) {
  for (int size = 2; size <= count; size *= 2)
    for (int apart = size / 2; apart > 0; apart /= 2) {
      __syncthreads();
      for (int t = threadIdx.x; t < count / 2; t += match_threads) {
        const int low = 2 * t - (t & (apart - 1)), high = low + apart;
        const unsigned long long a = keys[low], b = keys[high];
        if ((a > b) == ((low & size) == 0)) keys[low] = b, keys[high] = a;
      }
    }
  __syncthreads();
}

__global__ void __launch_bounds__(match_threads)
    bayes_match_kernel(const BayesArgs a, const Windows w, const float* guide) {
  extern __shared__ unsigned long long keys[];
  __shared__ float own[2 * max_wide_side * max_wide_side];
  __shared__ int found;
  const int reference = blockIdx.x, i = reference % a.columns;
  const int j = a.first_row + reference / a.columns;
  const int x = reference_position(i, a.margins.width, a.grid.step, a.side);
  const int y = reference_position(j, a.margins.height, a.grid.step, a.side);
  const int area = a.side * a.side;
  for (int s = threadIdx.x; s < a.depth * area; s += match_threads) {
    const int row = s % area / a.side, column = s % a.side;
    own[s] = guide[a.pair[0].distance[s / area] + a.margins.at(x + column, y + row)];
  }
  for (int n = threadIdx.x; n < w.keys; n += match_threads) keys[n] = ~0ull;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();

  int first = 0, mine = 0;  // number of a pair's first candidate; candidates of this thread
  for (int k = 0; k < a.pairs; ++k) {
    const SearchWindow at = window_of(a, w, k, x, y, i, j);
    const int count = at.side * at.side;
    for (int n = threadIdx.x; n < count; n += match_threads) {
      const int u = at.left + n % at.side, v = at.top + n / at.side;
      const bool inside =
          u >= 0 && v >= 0 && u <= a.margins.width - a.side && v <= a.margins.height - a.side;
      const bool centre = n == count / 2;
      if (!inside || (centre && k == 0)) continue;
      float distance = distance_to(a, a.pair[k], guide, own, u, v);
      if (centre) distance = fmaxf(0.0f, distance - w.bonus);
      keys[first + n] = static_cast<unsigned long long>(__float_as_uint(distance)) << 32 |
                        static_cast<unsigned>(first + n);
      ++mine;
    }
    first += count;
  }
  atomicAdd(&found, mine);
  sort_keys(keys, w.keys);

  const int count = min(found + 1, w.group);
  for (int m = threadIdx.x; m < count; m += match_threads) {
    std::uint32_t member = pack_displacement(0, 0, 0);
    if (m > 0) {
      int number = static_cast<int>(keys[m - 1] & 0xffffffffu), k = 0;
      SearchWindow at = window_of(a, w, 0, x, y, i, j);
      while (number >= at.side * at.side) {
        number -= at.side * at.side;
        at = window_of(a, w, ++k, x, y, i, j);
      }
      member = pack_displacement(at.left + number % at.side - x, at.top + number / at.side - y,
                                 a.pair[k].offset);
    }
    a.members[static_cast<std::size_t>(reference) * w.group + m] = member;
  }
  if (threadIdx.x == 0) a.counts[reference] = static_cast<std::uint8_t>(count);
}

}  // namespace

void bayes_match(const BayesArgs& args, const BayesParams& params, const float* guide,
                 cudaStream_t stream) {
  const int candidates = params.window * params.window +
                         (args.pairs - 1) * params.temporal_window * params.temporal_window;
  Windows windows{params.window, params.temporal_window, params.group, params.group,
                  params.place_bonus};
  while (windows.keys < candidates) windows.keys *= 2;
  cuda::allow_shared_memory(bayes_match_kernel);
  bayes_match_kernel<<<args.columns * args.rows, match_threads,
                       windows.keys * sizeof(unsigned long long), stream>>>(args, windows, guide);
  cuda::check(cudaGetLastError());
}

}  // namespace lull::bm3d
