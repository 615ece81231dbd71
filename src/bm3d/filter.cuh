#pragma once
// Collaborative filtering and aggregation of one batch, for the separable real transforms.
//
// A warp filters one group, which never leaves its registers. The horizontal transform of 16
// patches is eight products of 16x8 by 8x8 on the tensor cores, in half precision with float sums;
// its result lands so that lane (g, t) = (lane / 4, lane % 4) holds whole columns 2t and 2t + 1 of
// the patches 2S g .. 2S g + 2S - 1, where S = N / 16. So the vertical transform is plain float
// code, the first levels of the group transform are sums within a lane, and the last three are
// shuffles. The way back is the same in reverse.
//
// A thread block takes 4x4 neighbouring reference patches. Where shared memory is large enough for
// the union of their windows, samples are read from a tile there and estimates are added up there,
// in 32-bit fixed point, with one addition for each sample to device memory at the end
// (`Staging::shared`); else samples come from and sums go to device memory directly. Both give the
// same bytes.
//
// Numbers. Samples enter as the difference from one sample of the block, so that half precision
// resolves the contrast of the block and not its level; flat pictures are exact. Forward matrices
// are scaled by sqrt(8) and inverse ones by its reciprocal, which makes the mean's factors exact in
// half precision (1 and 1/8); thresholds and variances are scaled to match. Fewer than N patches:
// each of the M stands N / M times, which is the transform of M scaled by sqrt(N / M), the rest
// zeros.

#include "bm3d/group.h"
#include "bm3d/kernels.h"
#include "bm3d/transform_tables.h"
#include "bm3d/warp.cuh"
#include "cuda/check.h"

namespace lull::bm3d {

enum class Staging { shared, direct };

// Fixed point. In shared memory at most 16 groups' worth of weights, each at most 1 in sum over its
// duplicates times N = 32, meet at a sample: 512 * 256 * 2^13 = 2^30.
inline constexpr float value_scale = 8192.0f;    // of weighted sums, in units of the 0..255 scale
inline constexpr float weight_scale = 65536.0f;  // of weights; at least 2^16 / (32 * 64) = 32
inline constexpr float mid_level = 128.0f;       // values are summed as differences from it

namespace filter_detail {

constexpr int threads = 256;
constexpr int warps = threads / 32;
constexpr float root_half = 0.70710678f;
constexpr float root_8 = 2.8284271f;

/// Multiplies by the 8x8 matrix of `Table`; its zeros cost nothing. (The local copy makes the
/// elements constants of the instructions.)
template <class Table>
__device__ __forceinline__ void multiply8(float (&x)[8]) {
  constexpr Matrix8<float> matrix = Table::matrix();
  float y[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    y[i] = 0;
#pragma unroll
    for (int j = 0; j < 8; ++j)
      if (matrix.at[i][j] != 0) y[i] += matrix.at[i][j] * x[j];
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) x[i] = y[i];
}

struct BiorForward {
  static constexpr Matrix8<float> matrix() { return bior_forward<float>; }
};
struct BiorInverse {
  static constexpr Matrix8<float> matrix() { return bior_inverse<float>; }
};

/// Even-odd factorisation of the DCT-II: 22 multiplications for 8 values.
__device__ __forceinline__ void dct8(float (&x)[8]) {
  constexpr Matrix8<float> table = dct_forward<float>;
  const auto& c = table.at;
  const float s0 = x[0] + x[7], s1 = x[1] + x[6], s2 = x[2] + x[5], s3 = x[3] + x[4];
  const float d0 = x[0] - x[7], d1 = x[1] - x[6], d2 = x[2] - x[5], d3 = x[3] - x[4];
  const float p = s0 + s3, q = s1 + s2, u = s0 - s3, v = s1 - s2;
  x[0] = c[0][0] * (p + q);
  x[4] = c[0][0] * (p - q);
  x[2] = c[2][0] * u + c[2][1] * v;
  x[6] = c[2][1] * u - c[2][0] * v;
  x[1] = c[1][0] * d0 + c[1][1] * d1 + c[1][2] * d2 + c[1][3] * d3;
  x[3] = c[1][1] * d0 - c[1][3] * d1 - c[1][0] * d2 - c[1][2] * d3;
  x[5] = c[1][2] * d0 - c[1][0] * d1 + c[1][3] * d2 + c[1][1] * d3;
  x[7] = c[1][3] * d0 - c[1][2] * d1 + c[1][1] * d2 - c[1][0] * d3;
}

__device__ __forceinline__ void inverse_dct8(float (&x)[8]) {
  constexpr Matrix8<float> table = dct_forward<float>;
  const auto& c = table.at;
  const float p = c[0][0] * (x[0] + x[4]), q = c[0][0] * (x[0] - x[4]);
  const float u = c[2][0] * x[2] + c[2][1] * x[6], v = c[2][1] * x[2] - c[2][0] * x[6];
  const float s0 = p + u, s1 = q + v, s2 = q - v, s3 = p - u;
  const float d0 = c[1][0] * x[1] + c[1][1] * x[3] + c[1][2] * x[5] + c[1][3] * x[7];
  const float d1 = c[1][1] * x[1] - c[1][3] * x[3] - c[1][0] * x[5] - c[1][2] * x[7];
  const float d2 = c[1][2] * x[1] - c[1][0] * x[3] + c[1][3] * x[5] + c[1][1] * x[7];
  const float d3 = c[1][3] * x[1] - c[1][2] * x[3] + c[1][1] * x[5] - c[1][0] * x[7];
  x[0] = s0 + d0, x[1] = s1 + d1, x[2] = s2 + d2, x[3] = s3 + d3;
  x[4] = s3 - d3, x[5] = s2 - d2, x[6] = s1 - d1, x[7] = s0 - d0;
}

struct Dct {
  static __device__ void forward(float (&x)[8]) { dct8(x); }
  static __device__ void inverse(float (&x)[8]) { inverse_dct8(x); }
};
struct Bior {
  static __device__ void forward(float (&x)[8]) { multiply8<BiorForward>(x); }
  static __device__ void inverse(float (&x)[8]) { multiply8<BiorInverse>(x); }
};

/// The matrices of both transforms, read by the lanes at their own indices.
__device__ __constant__ const Matrix8<float> dct_matrices[2] = {dct_forward<float>,
                                                                dct_inverse<float>};
__device__ __constant__ const Matrix8<float> bior_matrices[2] = {bior_forward<float>,
                                                                 bior_inverse<float>};

template <int S>
using Coefficients = float[S][8][4];  // [set of 16 patches][row][2 columns of each of 2 patches]

/// The group transform across the 16 S patches in the lanes' registers.
struct Haar {
  // Three levels across lanes g: level l pairs the averages, which lanes with g % 2^(l + 1) = 0
  // keep; a difference stays with the other lane. Lanes that take no part multiply by 1 and 0.
  float own[3], other[3];
  __device__ explicit Haar(int lane) {
    const int g = lane >> 2;
#pragma unroll
    for (int l = 0; l < 3; ++l) {
      const bool part = (g & ((1 << l) - 1)) == 0, high = (g >> l & 1) != 0;
      own[l] = part ? (high ? -root_half : root_half) : 1.0f;
      other[l] = part ? root_half : 0.0f;
    }
  }
  static __device__ void pair(float& a, float& b) {
    const float u = a, v = b;
    a = (u + v) * root_half;
    b = (u - v) * root_half;
  }
  template <int S>
  __device__ __forceinline__ void forward(Coefficients<S>& c) const {
#pragma unroll
    for (int y = 0; y < 8; ++y)
#pragma unroll
      for (int q = 0; q < 2; ++q) {
#pragma unroll
        for (int s = 0; s < S; ++s) pair(c[s][y][q], c[s][y][q + 2]);
        if (S == 2) pair(c[0][y][q], c[S - 1][y][q]);
        float average = c[0][y][q];
#pragma unroll
        for (int l = 0; l < 3; ++l)
          average = own[l] * average + other[l] * __shfl_xor_sync(~0u, average, 4 << l);
        c[0][y][q] = average;
      }
  }
  template <int S>
  __device__ __forceinline__ void inverse(Coefficients<S>& c) const {
#pragma unroll
    for (int y = 0; y < 8; ++y)
#pragma unroll
      for (int q = 0; q < 2; ++q) {
        float average = c[0][y][q];
#pragma unroll
        for (int l = 2; l >= 0; --l)
          average = own[l] * average + other[l] * __shfl_xor_sync(~0u, average, 4 << l);
        c[0][y][q] = average;
        if (S == 2) pair(c[0][y][q], c[S - 1][y][q]);
#pragma unroll
        for (int s = 0; s < S; ++s) pair(c[s][y][q], c[s][y][q + 2]);
      }
  }
};

/// Orthonormal Walsh-Hadamard, its own inverse. The order of coefficients does not matter.
struct WalshHadamard {
  float sign[3];
  __device__ explicit WalshHadamard(int lane) {
#pragma unroll
    for (int l = 0; l < 3; ++l) sign[l] = (lane >> (2 + l) & 1) != 0 ? -root_half : root_half;
  }
  template <int S>
  __device__ __forceinline__ void forward(Coefficients<S>& c) const {
#pragma unroll
    for (int y = 0; y < 8; ++y)
#pragma unroll
      for (int q = 0; q < 2; ++q) {
#pragma unroll
        for (int s = 0; s < S; ++s) Haar::pair(c[s][y][q], c[s][y][q + 2]);
        if (S == 2) {
          Haar::pair(c[0][y][q], c[S - 1][y][q]);
          Haar::pair(c[0][y][q + 2], c[S - 1][y][q + 2]);
        }
      }
#pragma unroll
    for (int s = 0; s < S; ++s)
#pragma unroll
      for (int y = 0; y < 8; ++y)
#pragma unroll
        for (int q = 0; q < 4; ++q)
#pragma unroll
          for (int l = 0; l < 3; ++l)
            c[s][y][q] =
                sign[l] * c[s][y][q] + root_half * __shfl_xor_sync(~0u, c[s][y][q], 4 << l);
  }
  template <int S>
  __device__ __forceinline__ void inverse(Coefficients<S>& c) const {
    forward<S>(c);
  }
};

}  // namespace filter_detail
}  // namespace lull::bm3d
