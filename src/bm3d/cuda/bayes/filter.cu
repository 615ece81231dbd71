// A group's estimates by the covariance of its patches: a thread block for a group.
//
// Patches are rows in shared memory, in half precision, less the mean of all their samples and in
// units of sigma. Products run on the tensor cores, halves with float sums, in tiles of 16x16:
//   1. the Gram matrix G = Y Y' / n of the patches (or of the basic estimate's, B B' / n), to
//   shared
//      memory, in floats;
//   2. (G + t I)^-1 by Gauss and Jordan, in floats and in blocks of 16 pivots: a thread has a share
//      of every block in registers, and the blocks' rows and columns pass through shared memory;
//   3. the noisy patches' own spectrum: P = I - t (G + t I)^-1, sharpened by P <- P (3 P - 2 P^2),
//      two products each time. Another spectrum: W = Y B' / n (G + t I)^-1, in floats;
//   4. X = P Y or W B, tile by tile: each warp puts a tile into its part of shared memory and adds
//      the samples to the sums, which are integers (filter.cuh), so that their order does not
//      matter.
// Groups are filled up with patches of zeros: their rows of P and W are zero.

#include <cuda_fp16.h>
#include <mma.h>

#include <algorithm>

#include "bm3d/cuda/bayes/kernels.h"
#include "bm3d/cuda/filter/filter.cuh"
#include "cuda/check.h"
#include "cuda/shared_memory.h"
#include "cuda/warp.cuh"

namespace lull::bm3d {
namespace {

namespace wmma = nvcuda::wmma;

constexpr int tile = 16;  // side of what the tensor cores multiply
using Left = wmma::fragment<wmma::matrix_a, tile, tile, tile, __half, wmma::row_major>;
using Right = wmma::fragment<wmma::matrix_b, tile, tile, tile, __half, wmma::row_major>;
using RightTurned = wmma::fragment<wmma::matrix_b, tile, tile, tile, __half, wmma::col_major>;
using Accumulator16 = wmma::fragment<wmma::accumulator, tile, tile, tile, float>;

/// How groups of N patches lie in shared memory.
template <int N>
struct Shape {
  static constexpr int threads = 4 * N, warps = threads / 32;
  static constexpr int float_pitch = N + 4, half_pitch = N + 8;  // of N x N matrices
  static constexpr int stage_pitch = tile + 4;                   // of a tile of estimates
};

/// Samples of a patch, filled up to tiles; and from patch to patch.
constexpr int filled(int samples) { return (samples + tile - 1) / tile * tile; }
constexpr int row_pitch(int samples) { return filled(samples) + 8; }

/// How blocks of pivots pass through shared memory, for the inverse of an N x N matrix.
template <int N>
struct Pivots {
  static constexpr int pitch = tile + 4;  // read by fours
  float rows[tile][N + 4];                // of the matrix, in the block of pivots
  float columns[N][pitch];                // of the matrix
  float turned[N][pitch];                 // the block's inverse times rows; itself where they meet
  float inverse[tile][pitch];             // of the block
};

/// Dynamic shared memory, in bytes: matrices of floats, of halves (before them the pivots), then
/// patches.
template <int N>
struct GroupMemory {
  static constexpr int floats = N * Shape<N>::float_pitch;
  static constexpr int halves = N * Shape<N>::half_pitch;
  static constexpr std::size_t float_bytes(bool by_basic) {
    const std::size_t one = sizeof(float) * floats;
    const std::size_t stages = sizeof(float) * Shape<N>::warps * tile * Shape<N>::stage_pitch;
    return (by_basic ? 2 : 1) * (one > stages ? one : stages);
  }
  static constexpr std::size_t half_bytes =
      std::max(2 * sizeof(__half) * halves, sizeof(Pivots<N>));
  static constexpr std::size_t bytes(bool by_basic, int samples) {
    const std::size_t patches = sizeof(__half) * N * row_pitch(samples);
    return float_bytes(by_basic) + half_bytes + (by_basic ? 2 : 1) * patches;
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

/// One warp: the inverse of the block of pivots that begins at column `first` of p.rows. Lane
/// l has half of column l % 16.
template <int N>
__device__ void invert_block(Pivots<N>& p, int first) {
  constexpr int half = tile / 2;
  const int lane = threadIdx.x % 32, column = lane % tile, top = lane / tile * half;
  float v[half];
#pragma unroll
  for (int r = 0; r < half; ++r) v[r] = p.rows[top + r][first + column];
#pragma unroll
  for (int k = 0; k < tile; ++k) {
    const float in_pivot_row = __shfl_sync(~0u, v[k % half], column + k / half * tile);
    const float pivot = 1 / __shfl_sync(~0u, in_pivot_row, k);
    float factor[half];  // of the pivot's column
#pragma unroll
    for (int r = 0; r < half; ++r) factor[r] = __shfl_sync(~0u, v[r], k + lane / tile * tile);
    const float scaled = column == k ? pivot : in_pivot_row * pivot;
#pragma unroll
    for (int r = 0; r < half; ++r) {
      const float others = column == k ? 0.0f : v[r];
      v[r] = top + r == k ? scaled : others - factor[r] * scaled;
    }
  }
#pragma unroll
  for (int r = 0; r < half; ++r) p.inverse[top + r][column] = v[r];
}

/// The sum of products of two rows of 16.
__device__ __forceinline__ float dot(const float* a, const float* b, float sum) {
#pragma unroll
  for (int q = 0; q < tile; q += 4) {
    const float4 x = *reinterpret_cast<const float4*>(a + q);
    const float4 y = *reinterpret_cast<const float4*>(b + q);
    sum += x.x * y.x + x.y * y.y + (x.z * y.z + x.w * y.w);
  }
  return sum;
}

/// The inverse of a symmetric positive matrix, in place. A thread has every `down`th row and every
/// 16th column.
template <int N>
__device__ void invert(float* a, Pivots<N>& p) {
  constexpr int across = tile, down = Shape<N>::threads / across, in_block = tile / down;
  constexpr int own_rows = N / down, own_columns = N / across, pitch = Shape<N>::float_pitch;
  const int tx = threadIdx.x % across, ty = threadIdx.x / across;
  float v[own_rows][own_columns];
#pragma unroll
  for (int r = 0; r < own_rows; ++r)
#pragma unroll
    for (int c = 0; c < own_columns; ++c) v[r][c] = a[(ty + down * r) * pitch + tx + across * c];
#pragma unroll
  for (int k = 0; k < N / tile; ++k) {
#pragma unroll
    for (int r = 0; r < own_rows; ++r) {
      p.columns[ty + down * r][tx] = v[r][k];
      if (r / in_block != k) continue;
#pragma unroll
      for (int c = 0; c < own_columns; ++c)
        p.rows[ty + down * (r % in_block)][tx + across * c] = v[r][c];
    }
    __syncthreads();
    if (threadIdx.x < 32) invert_block(p, k * tile);
    __syncthreads();
    // The block's rows: its inverse times them.
#pragma unroll
    for (int r = k * in_block; r < (k + 1) * in_block; ++r) {
      const int row = ty + down * (r % in_block);
#pragma unroll
      for (int c = 0; c < own_columns; ++c) {
        float sum = 0;
#pragma unroll
        for (int q = 0; q < tile; ++q) sum += p.inverse[row][q] * p.rows[q][tx + across * c];
        v[r][c] = c == k ? p.inverse[row][tx] : sum;
        p.turned[tx + across * c][row] = v[r][c];
      }
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < own_rows; ++r) {
      if (r / in_block == k) continue;
#pragma unroll
      for (int c = 0; c < own_columns; ++c) {
        const float product = dot(p.columns[ty + down * r], p.turned[tx + across * c], 0.0f);
        v[r][c] = (c == k ? 0.0f : v[r][c]) - product;
      }
    }
    __syncthreads();  // before the next block's rows and columns
  }
#pragma unroll
  for (int r = 0; r < own_rows; ++r)
#pragma unroll
    for (int c = 0; c < own_columns; ++c) a[(ty + down * r) * pitch + tx + across * c] = v[r][c];
  __syncthreads();
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

/// X = w b, added to the sums. `stages`: room for a tile of floats for each warp.
template <int N>
__device__ void add_estimates(const Members<N>& members, int samples, const __half* w,
                              const __half* b, const BayesPlane& plane, float mean, float* stages) {
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
      const float value = stage[n / tile * pitch + n % tile] * plane.sigma + mean - mid_level;
      atomicAdd(plane.sums.numerator + members.sample(m, s),
                static_cast<unsigned long long>(__float2ll_rn(value * value_scale)));
    }
    __syncwarp();
  }
  const int frames = samples / members.area;
  for (int n = threadIdx.x; n < frames * N; n += Shape<N>::threads)
    if (n % N < members.count) atomicAdd(plane.sums.denominator + members.at[n / N][n % N], 1u);
}

template <int N, bool by_basic>
__global__ void __launch_bounds__(Shape<N>::threads)
    bayes_filter_kernel(const BayesArgs a, const BayesPlane plane, float threshold,
                        int sharpenings) {
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ Members<N> members;
  constexpr int pitch = Shape<N>::float_pitch;
  const int area = a.side * a.side, samples = a.depth * area, reference = blockIdx.x;
  float* const f = reinterpret_cast<float*>(memory);
  __half* const p = reinterpret_cast<__half*>(memory + GroupMemory<N>::float_bytes(by_basic));
  __half* const s = p + GroupMemory<N>::halves;
  __half* const y = p + GroupMemory<N>::half_bytes / sizeof(__half);
  __half* const b = by_basic ? y + N * row_pitch(samples) : y;

  if (threadIdx.x == 0) members.count = a.counts[reference], members.area = area;
  for (int n = threadIdx.x; n < samples; n += Shape<N>::threads)
    members.place[n] = n % area / a.side * a.margins.pitch + n % a.side;
  __syncthreads();
  const int x0 = reference_position(reference % a.columns, a.margins.width, a.grid.step, a.side);
  const int y0 = reference_position(a.first_row + reference / a.columns, a.margins.height,
                                    a.grid.step, a.side);
  for (int m = threadIdx.x; m < members.count; m += Shape<N>::threads) {
    const std::uint32_t member = a.members[static_cast<std::size_t>(reference) * N + m];
    int k = 0;
    while (a.pair[k].offset != displacement_t(member)) ++k;
    const int place = a.margins.at(x0 + displacement_x(member), y0 + displacement_y(member));
    for (int frame = 0; frame < 2; ++frame)
      members.at[frame][m] = place + a.pair[k].distance[frame];
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
  invert<N>(f, *reinterpret_cast<Pivots<N>*>(p));
  if constexpr (by_basic) {
    float* const shared = f + GroupMemory<N>::float_bytes(true) / 2 / sizeof(float);
    multiply_all<N, RightTurned>(y, row_pitch(samples), b, row_pitch(samples), filled(samples),
                                 shared);
    __syncthreads();
    combine<N>(shared, f, share, p);
  } else {
    sharpen<N>(f, threshold, sharpenings, p, s);
  }
  add_estimates<N>(members, samples, p, b, plane, mean, f);
}

template <int N, bool by_basic>
void launch(const BayesArgs& args, const BayesParams& params, const BayesPlane& plane,
            cudaStream_t stream) {
  const auto kernel = bayes_filter_kernel<N, by_basic>;
  const std::size_t bytes = GroupMemory<N>::bytes(by_basic, args.depth * args.side * args.side);
  cuda::allow_shared_memory(kernel);
  kernel<<<args.columns * args.rows, Shape<N>::threads, bytes, stream>>>(
      args, plane, params.threshold, params.sharpenings);
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
