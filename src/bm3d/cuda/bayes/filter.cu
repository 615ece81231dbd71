// A group's estimates by the covariance of its patches: a thread block for a group.
//
// Patches are rows in shared memory, in half precision, less the mean of all their samples and in
// units of sigma. Products run on the tensor cores, halves with float sums, in tiles of 16x16:
//   1. the Gram matrix G = Y Y' / n of the patches (or of the basic estimate's, B B' / n), in
//      floats;
//   2. (G + t I)^-1, in floats (inverse.cuh);
//   3. the noisy patches' own spectrum: P = I - t (G + t I)^-1, sharpened by P <- P (3 P - 2 P^2),
//      two products each time. Another spectrum: W = Y B' / n (G + t I)^-1, in floats;
//   4. X = P Y or W B, tile by tile: each warp puts a tile into its part of shared memory and adds
//      the samples to the sums, which are integers (filter.cuh), so that their order does not
//      matter. Patches of a group of 64 overlap so much that they are added up in shared memory
//      first, window by window of the search, where that has room: additions in device memory are
//      what takes longest.
// Groups are filled up with patches of zeros: their rows of P and W are zero.

#include <cuda_fp16.h>
#include <mma.h>

#include <algorithm>

#include "bm3d/cuda/bayes/inverse.cuh"
#include "bm3d/cuda/bayes/kernels.h"
#include "bm3d/cuda/bayes/windows.cuh"
#include "bm3d/cuda/filter/filter.cuh"
#include "core/round_up.h"
#include "cuda/check.h"
#include "cuda/shared_memory.h"
#include "cuda/warp.cuh"

namespace lull::bm3d {
namespace {

namespace wmma = nvcuda::wmma;

using Left = wmma::fragment<wmma::matrix_a, tile, tile, tile, __half, wmma::row_major>;
using Right = wmma::fragment<wmma::matrix_b, tile, tile, tile, __half, wmma::row_major>;
using RightTurned = wmma::fragment<wmma::matrix_b, tile, tile, tile, __half, wmma::col_major>;
using Accumulator16 = wmma::fragment<wmma::accumulator, tile, tile, tile, float>;

/// Samples of a patch, filled up to tiles; and from patch to patch.
constexpr int filled(int samples) { return (samples + tile - 1) / tile * tile; }
constexpr int row_pitch(int samples) { return filled(samples) + 8; }

/// Dynamic shared memory, in bytes: P or W, matrices of floats (of pivots before), another matrix
/// of halves to sharpen with, patches. Behind P, sums take the place of what is not needed any
/// more.
template <int N>
struct GroupMemory {
  static constexpr std::size_t half_bytes = sizeof(__half) * N * Shape<N>::half_pitch;
  static constexpr std::size_t stage_bytes =
      sizeof(float) * Shape<N>::warps * tile * Shape<N>::stage_pitch;
  static constexpr std::size_t float_bytes =
      std::max({sizeof(float) * N * Shape<N>::float_pitch, stage_bytes, sizeof(Pivots<N>)});
  /// From P to the patches.
  static constexpr std::size_t between(bool by_basic, std::size_t sum_bytes) {
    return round_up(
        std::max(by_basic ? 2 * float_bytes : float_bytes + half_bytes, sum_bytes + stage_bytes),
        128);
  }
  static constexpr std::size_t bytes(bool by_basic, int samples, std::size_t sum_bytes) {
    return half_bytes + between(by_basic, sum_bytes) +
           (by_basic ? 2 : 1) * sizeof(__half) * N * row_pitch(samples);
  }
};

/// c = a b of the tile (i, j), where b is given by its transpose if `Turned`.
template <class RightTile>
__device__ Accumulator16 multiply_tile(const __half* a, int a_pitch, const __half* b, int b_pitch,
                                       int i, int j, int depth) {
  constexpr bool turned = std::is_same_v<RightTile, RightTurned>;
  Accumulator16 sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < depth; k += tile) {
    Left left;
    RightTile right;
    wmma::load_matrix_sync(left, a + i * tile * a_pitch + k, a_pitch);
    wmma::load_matrix_sync(right, turned ? b + j * tile * b_pitch + k : b + k * b_pitch + j * tile,
                           b_pitch);
    wmma::mma_sync(sum, left, right, sum);
  }
  return sum;
}

/// c = a b, N x N floats.
template <int N, class RightTile>
__device__ void multiply_all(const __half* a, int a_pitch, const __half* b, int b_pitch, int depth,
                             float* c) {
  constexpr int tiles = N / tile;
  for (int k = threadIdx.x / 32; k < tiles * tiles; k += Shape<N>::warps) {
    const int i = k / tiles, j = k % tiles;
    const Accumulator16 sum = multiply_tile<RightTile>(a, a_pitch, b, b_pitch, i, j, depth);
    wmma::store_matrix_sync(c + i * tile * Shape<N>::float_pitch + j * tile, sum,
                            Shape<N>::float_pitch, wmma::mem_row_major);
  }
}

/// What of a thread block all its threads give.
template <int N>
__device__ float sum_of_all(float mine) {
  __shared__ float parts[Shape<N>::warps];
  mine = warp_sum(mine);
  __syncthreads();  // nobody reads what was there before
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = mine;
  __syncthreads();
  float sum = 0;
  for (const float part : parts) sum += part;
  return sum;
}

/// The members of a group: where their patches begin, in elements from the reference patch's frame;
/// and where a patch's samples lie from there, frame after frame.
template <int N>
struct Members {
  int at[2][N];
  int place[2 * max_wide_side * max_wide_side];
  int count, area;
  __device__ int sample(int m, int s) const { return at[s >= area][m] + place[s]; }
};

/// Patches as rows of halves, a warp for a patch; gives the mean that was taken off.
template <int N>
__device__ float load_patches(const Members<N>& members, int samples, const float* plane,
                              float unit, __half* rows) {
  const int pitch = row_pitch(samples), warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float mine = 0;
  for (int m = warp; m < members.count; m += Shape<N>::warps)
    for (int s = lane; s < samples; s += 32) mine += plane[members.sample(m, s)];
  const float mean = sum_of_all<N>(mine) / static_cast<float>(members.count * samples);
  for (int m = warp; m < N; m += Shape<N>::warps)
    for (int s = lane; s < pitch; s += 32) {
      const bool there = m < members.count && s < samples;
      rows[m * pitch + s] =
          __float2half_rn(there ? (plane[members.sample(m, s)] - mean) * unit : 0.0f);
    }
  __syncthreads();
  return mean;
}

/// P of the head comment, in `p`; `s` is room for another, `f` has (G + t I)^-1.
template <int N>
__device__ void sharpen(float* f, float threshold, int sharpenings, __half* p, __half* s) {
  constexpr int pitch = Shape<N>::half_pitch, floats = Shape<N>::float_pitch;
  const auto each = [&](auto&& use) {
    for (int n = threadIdx.x; n < N * N; n += Shape<N>::threads) use(n / N, n % N);
    __syncthreads();
  };
  each([&](int i, int j) {
    p[i * pitch + j] = __float2half_rn((i == j ? 1.0f : 0.0f) - threshold * f[i * floats + j]);
  });
  for (int k = 0; k < sharpenings; ++k) {
    multiply_all<N, Right>(p, pitch, p, pitch, N, f);
    __syncthreads();
    each([&](int i, int j) {
      s[i * pitch + j] =
          __float2half_rn(3 * __half2float(p[i * pitch + j]) - 2 * f[i * floats + j]);
    });
    multiply_all<N, Right>(p, pitch, s, pitch, N, f);
    __syncthreads();
    each([&](int i, int j) { p[i * pitch + j] = __float2half_rn(f[i * floats + j]); });
  }
}

/// W of the head comment, in `w`: shared[m][k] = y_m b_k / n, inverse[k][j].
template <int N>
__device__ void combine(const float* shared, const float* inverse, float share, __half* w) {
  constexpr int floats = Shape<N>::float_pitch;
  for (int n = threadIdx.x; n < N * N; n += Shape<N>::threads) {
    const int i = n / N, j = n % N;
    float sum = 0;
    for (int k = 0; k < N; ++k) sum += shared[i * floats + k] * inverse[k * floats + j];
    w[i * Shape<N>::half_pitch + j] = __float2half_rn(sum * share);
  }
  __syncthreads();
}

/// Where sums are made: in device memory; or first in shared memory, where each pair of frames has
/// the samples of its search window, in the one frame and then in the other.
template <int N>
struct SharedSums {
  int at[N], extent[N];  // of a member: its first sample, samples from row to row
  int first[max_frames];
  SearchWindow window[max_frames];
  std::uint8_t row[2 * max_wide_side * max_wide_side], column[2 * max_wide_side * max_wide_side];

  __device__ int sample(int m, int s, int area) const {
    return at[m] + (s >= area ? extent[m] * extent[m] : 0) + row[s] * extent[m] + column[s];
  }
};

/// Sides of the search windows; the bytes of sums in shared memory, 0: they are in device memory.
struct SumsPlan {
  int window, temporal_window;
  std::size_t bytes = 0;
};

/// The windows of all pairs, and where their sums begin.
template <int N>
__device__ void find_windows(const BayesArgs& a, const SumsPlan& plan, int x, int y, int i, int j,
                             SharedSums<N>& sums) {
  if (const int k = threadIdx.x; k < a.pairs) {
    const int own = plan.window + a.side - 1, other = plan.temporal_window + a.side - 1;
    sums.window[k] = window_of(a, plan.window, plan.temporal_window, k, x, y, i, j);
    sums.first[k] = k == 0 ? 0 : a.depth * (own * own + (k - 1) * other * other);
  }
  for (int s = threadIdx.x; s < a.depth * a.side * a.side; s += Shape<N>::threads) {
    sums.row[s] = static_cast<std::uint8_t>(s % (a.side * a.side) / a.side);
    sums.column[s] = static_cast<std::uint8_t>(s % a.side);
  }
}

/// The sums of all windows, to those in device memory.
template <int N>
__device__ void give_sums(const BayesArgs& a, const SharedSums<N>& sums, const int* values,
                          unsigned long long* numerator) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int k = 0; k < a.pairs; ++k) {
    const SearchWindow at = sums.window[k];
    const int extent = at.side + a.side - 1;
    for (int row = warp; row < a.depth * extent; row += Shape<N>::warps) {
      const int frame = row / extent;
      const int left = at.left + frame * at.second_x;
      const int y = at.top + frame * at.second_y + row % extent;
      for (int column = lane; column < extent; column += 32) {
        const int value = values[sums.first[k] + row * extent + column];
        if (value == 0) continue;  // as it is beyond the plane
        atomicAdd(numerator + a.pair[k].distance[frame] + a.margins.at(left + column, y),
                  static_cast<unsigned long long>(static_cast<long long>(value)));
      }
    }
  }
}

/// X = w b, tile by tile: add(member, sample, estimate as it is summed). `stages`: room for a tile
/// of floats for each warp.
template <int N, class Add>
__device__ void for_estimates(const Members<N>& members, int samples, const __half* w,
                              const __half* b, float sigma, float mean, float* stages, Add add) {
  constexpr int tiles = N / tile, pitch = Shape<N>::stage_pitch;
  const int warp = threadIdx.x / 32;
  float* const stage = stages + warp * tile * pitch;
  for (int k = warp; k < tiles * filled(samples) / tile; k += Shape<N>::warps) {
    const int i = k % tiles, j = k / tiles;
    const Accumulator16 sum =
        multiply_tile<Right>(w, Shape<N>::half_pitch, b, row_pitch(samples), i, j, N);
    wmma::store_matrix_sync(stage, sum, pitch, wmma::mem_row_major);
    __syncwarp();
    for (int n = threadIdx.x % 32; n < tile * tile; n += 32) {
      const int m = i * tile + n / tile, s = j * tile + n % tile;
      if (m >= members.count || s >= samples) continue;
      add(m, s, (stage[n / tile * pitch + n % tile] * sigma + mean - mid_level) * value_scale);
    }
    __syncwarp();
  }
}

/// X = w b, added to the sums. `room`: from P to the patches.
template <int N>
__device__ void add_estimates(const BayesArgs& a, const SumsPlan& plan, const Members<N>& members,
                              const SharedSums<N>& sums, int samples, const __half* w,
                              const __half* b, const BayesPlane& plane, float mean,
                              unsigned char* room) {
  float* const stages = reinterpret_cast<float*>(room + plan.bytes);
  unsigned long long* const numerator = plane.sums.numerator;
  if (plan.bytes == 0) {
    for_estimates(members, samples, w, b, plane.sigma, mean, stages,
                  [&](int m, int s, float value) {
                    atomicAdd(numerator + members.sample(m, s),
                              static_cast<unsigned long long>(__float2ll_rn(value)));
                  });
  } else {
    int* const values = reinterpret_cast<int*>(room);  // 64 estimates of 4095 levels fit
    for (int n = threadIdx.x; n < plan.bytes / sizeof(int); n += Shape<N>::threads) values[n] = 0;
    __syncthreads();
    for_estimates(members, samples, w, b, plane.sigma, mean, stages,
                  [&](int m, int s, float value) {
                    atomicAdd(values + sums.sample(m, s, members.area), __float2int_rn(value));
                  });
    __syncthreads();
    give_sums(a, sums, values, numerator);
  }
  const int frames = samples / members.area;
  for (int n = threadIdx.x; n < frames * N; n += Shape<N>::threads)
    if (n % N < members.count) atomicAdd(plane.sums.denominator + members.at[n / N][n % N], 1u);
}

template <int N, bool by_basic>
__global__ void __launch_bounds__(Shape<N>::threads)
    bayes_filter_kernel(const BayesArgs a, const SumsPlan plan, const BayesPlane plane,
                        float threshold, int sharpenings) {
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ Members<N> members;
  constexpr int pitch = Shape<N>::float_pitch;
  const int area = a.side * a.side, samples = a.depth * area, reference = blockIdx.x;
  using Memory = GroupMemory<N>;
  __half* const p = reinterpret_cast<__half*>(memory);
  unsigned char* const room = memory + Memory::half_bytes;
  float* const f = reinterpret_cast<float*>(room);
  float* const shared = reinterpret_cast<float*>(room + Memory::float_bytes);  // by the basic one
  __half* const s = reinterpret_cast<__half*>(shared);                         // else
  __half* const y = reinterpret_cast<__half*>(room + Memory::between(by_basic, plan.bytes));
  __half* const b = by_basic ? y + N * row_pitch(samples) : y;
  SharedSums<N>& sums = *reinterpret_cast<SharedSums<N>*>(b + N * row_pitch(samples));

  if (threadIdx.x == 0) members.count = a.counts[reference], members.area = area;
  for (int n = threadIdx.x; n < samples; n += Shape<N>::threads)
    members.place[n] = n % area / a.side * a.margins.pitch + n % a.side;
  const int i0 = reference % a.columns, j0 = a.first_row + reference / a.columns;
  const int x0 = reference_position(i0, a.margins.width, a.grid.step, a.side);
  const int y0 = reference_position(j0, a.margins.height, a.grid.step, a.side);
  if (plan.bytes > 0) find_windows(a, plan, x0, y0, i0, j0, sums);
  __syncthreads();
  for (int m = threadIdx.x; m < members.count; m += Shape<N>::threads) {
    const std::uint32_t member = a.members[static_cast<std::size_t>(reference) * N + m];
    int k = 0;
    while (a.pair[k].offset != displacement_t(member)) ++k;
    const int x = x0 + displacement_x(member), y = y0 + displacement_y(member);
    const Motion second = second_half_of(a, k, i0, j0);
    members.at[0][m] = a.margins.at(x, y) + a.pair[k].distance[0];
    members.at[1][m] = a.margins.at(x + second.x, y + second.y) + a.pair[k].distance[1];
    if (plan.bytes == 0) continue;
    const SearchWindow at = sums.window[k];
    sums.extent[m] = at.side + a.side - 1;
    sums.at[m] = sums.first[k] + (y - at.top) * sums.extent[m] + x - at.left;
  }
  __syncthreads();

  const float mean = load_patches<N>(members, samples, plane.noisy, 1 / plane.sigma, y);
  if constexpr (by_basic) (void)load_patches<N>(members, samples, plane.basic, 1 / plane.sigma, b);
  const float share = 1 / static_cast<float>(members.count);
  multiply_all<N, RightTurned>(b, row_pitch(samples), b, row_pitch(samples), filled(samples), f);
  __syncthreads();
  for (int n = threadIdx.x; n < N * N; n += Shape<N>::threads) {
    const int i = n / N, j = n % N;
    f[i * pitch + j] = f[i * pitch + j] * share + (i == j ? threshold : 0.0f);
  }
  __syncthreads();
  invert<N>(f, *reinterpret_cast<Pivots<N>*>(f));
  if constexpr (by_basic) {
    multiply_all<N, RightTurned>(y, row_pitch(samples), b, row_pitch(samples), filled(samples),
                                 shared);
    __syncthreads();
    combine<N>(shared, f, share, p);
  } else {
    sharpen<N>(f, threshold, sharpenings, p, s);
  }
  __syncthreads();  // what is behind P is not needed any more
  add_estimates<N>(a, plan, members, sums, samples, p, b, plane, mean, room);
}

/// Groups of 32 have hardly more samples than their windows.
template <int N, bool by_basic>
SumsPlan plan_sums(const BayesArgs& args, const BayesParams& params) {
  SumsPlan plan{params.window, params.temporal_window};
  if (N < 64) return plan;
  const int own = params.window + args.side - 1, other = params.temporal_window + args.side - 1;
  const std::size_t bytes =
      sizeof(int) * args.depth * (own * own + (args.pairs - 1) * other * other);
  const std::size_t all =
      GroupMemory<N>::bytes(by_basic, args.depth * args.side * args.side, bytes) +
      sizeof(SharedSums<N>);
  // A multiprocessor with 228 KB holds three such blocks.
  constexpr std::size_t most = 75 * 1024;
  const auto limit =
      static_cast<std::size_t>(cuda::attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  if (all <= std::min(most, limit - 4096)) plan.bytes = round_up(bytes, 128);
  return plan;
}

template <int N, bool by_basic>
void launch(const BayesArgs& args, const BayesParams& params, const BayesPlane& plane,
            cudaStream_t stream) {
  const auto kernel = bayes_filter_kernel<N, by_basic>;
  const SumsPlan plan = plan_sums<N, by_basic>(args, params);
  const std::size_t bytes =
      GroupMemory<N>::bytes(by_basic, args.depth * args.side * args.side, plan.bytes) +
      (plan.bytes > 0 ? sizeof(SharedSums<N>) : 0);
  cuda::allow_shared_memory(kernel);
  kernel<<<args.columns * args.rows, Shape<N>::threads, bytes, stream>>>(
      args, plan, plane, params.threshold, params.sharpenings);
  cuda::check(cudaGetLastError());
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
