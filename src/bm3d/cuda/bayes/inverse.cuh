#pragma once
// Inverses of the matrices of groups, in shared memory: Gauss and Jordan, in floats and in blocks
// of 16 pivots. A thread has a share of every block in registers; the rows and columns of a block
// of pivots pass through shared memory.

namespace lull::bm3d {

constexpr int tile = 16;  // side of what the tensor cores multiply, and of a block of pivots

/// How groups of N patches lie in shared memory.
template <int N>
struct Shape {
  static constexpr int threads = 4 * N, warps = threads / 32;
  static constexpr int float_pitch = N + 4, half_pitch = N + 8;  // of N x N matrices
  static constexpr int stage_pitch = tile + 4;                   // of a tile of estimates
};

/// How blocks of pivots pass through shared memory, for the inverse of an N x N matrix.
template <int N>
struct Pivots {
  static constexpr int pitch = tile + 4;  // read by fours
  float rows[tile][N + 4];                // of the matrix, in the block of pivots
  float columns[N][pitch];                // of the matrix
  float turned[N][pitch];                 // the block's inverse times rows; itself where they meet
  float inverse[tile][pitch];             // of the block
};

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
__device__ __forceinline__ float dot(const float* a, const float* b) {
  float sum = 0;
#pragma unroll
  for (int q = 0; q < tile; q += 4) {
    const float4 x = *reinterpret_cast<const float4*>(a + q);
    const float4 y = *reinterpret_cast<const float4*>(b + q);
    sum += x.x * y.x + x.y * y.y + (x.z * y.z + x.w * y.w);
  }
  return sum;
}

/// The inverse of a symmetric positive matrix, in place. A thread has every `down`th row and every
/// 16th column. `p` may lie where the matrix does.
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
  __syncthreads();
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
        const float product = dot(p.columns[ty + down * r], p.turned[tx + across * c]);
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

}  // namespace lull::bm3d
