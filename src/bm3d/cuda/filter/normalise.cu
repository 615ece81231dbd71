// Completes a phase: divides the sums of weighted estimates by the sums of weights.

// The divisor of a sample is the sum of the weights in a box of 8x8 samples. The kernel first sums
// the weights along rows, by shuffles within a warp, and then along columns, in shared memory.

#include "bm3d/cuda/filter/filter.cuh"
#include "bm3d/cuda/filter/kernels.h"
#include "cuda/boxes.cuh"
#include "cuda/check.h"

namespace lull::bm3d {
namespace {

static_assert(box_reach == patch - 1);

using QuotientBoxes = Boxes<8, 4>;

/// Returns a / b, rounded to nearest. Unlike the division that the compiler generates, this
/// function has no branch for very large and very small operands.
__device__ __forceinline__ float quotient(float a, float b) {
  float inverse;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(b));
  inverse = __fmaf_rn(__fmaf_rn(-b, inverse, 1.0f), inverse, inverse);
  const float about = __fmul_rn(a, inverse);
  return __fmaf_rn(__fmaf_rn(-b, about, a), inverse, about);
}

/// Computes four sums of weights, one for each sample of this lane. A sum contains the weights at
/// the sample and at the 7 samples to its left, multiplied by the aggregation window.
__device__ __forceinline__ float4 sums_along(const uint4& weights,
                                             const std::array<float, patch>& window) {
  float v[3 * 4] = {}, sum[4] = {};  // positions -8 to 3
  v[8] = static_cast<float>(weights.x), v[9] = static_cast<float>(weights.y);
  v[10] = static_cast<float>(weights.z), v[11] = static_cast<float>(weights.w);
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    v[4 + k] = __shfl_up_sync(~0u, v[8 + k], 1);
    if (k > 0) v[k] = __shfl_up_sync(~0u, v[8 + k], 2);
  }
#pragma unroll
  for (int k = 0; k < 4; ++k)
#pragma unroll
    for (int j = 0; j < patch; ++j) sum[k] += window[j] * v[k + patch - j];
  return make_float4(sum[0], sum[1], sum[2], sum[3]);
}

/// For up to four neighbouring samples, divides the sum of weighted estimates by the sum of
/// weights, and stores the quotient.
/// @param v  the weights of this row and of the 7 rows above, summed along x (sums_along())
/// @param left  number of samples from the first estimate to the end of the row
__device__ __forceinline__ void store_quotients(const ulonglong2 (&sums)[2], const float4* v,
                                                const std::array<float, patch>& window,
                                                const float* noisy, int left, float* estimate) {
  const unsigned long long sum[4] = {sums[0].x, sums[0].y, sums[1].x, sums[1].y};
  float weight[4] = {}, value[4];
#pragma unroll
  for (int j = 0; j < patch; ++j) {
    const float4 row = v[box_reach - j];
    weight[0] += window[j] * row.x, weight[1] += window[j] * row.y;
    weight[2] += window[j] * row.z, weight[3] += window[j] * row.w;
  }
#pragma unroll
  for (int k = 0; k < 4; ++k)
    value[k] = quotient(static_cast<float>(static_cast<long long>(sum[k])), weight[k]) *
                   (weight_scale / value_scale) +
               mid_level;
  const float least = fminf(fminf(weight[0], weight[1]), fminf(weight[2], weight[3]));
  if (least > 0 && left >= 4) {
    *reinterpret_cast<float4*>(estimate) = make_float4(value[0], value[1], value[2], value[3]);
    return;
  }
#pragma unroll
  for (int k = 0; k < 4; ++k)
    if (k < left) estimate[k] = weight[k] > 0 ? value[k] : noisy[k];
}

/// Computes the estimates. The divisor of a sample is the sum of the weights of the 64 patches that
/// contain the sample, each multiplied by the aggregation window.
__global__ void __launch_bounds__(QuotientBoxes::threads)
    normalise_kernel(const __grid_constant__ Quotients of, Margins margins,
                     std::array<float, patch> window) {
  const Sums sums = of.sums[blockIdx.z];
  const float* const noisy = of.noisy[blockIdx.z];
  float* const estimate = of.estimate[blockIdx.z];
  constexpr int rows = QuotientBoxes::rows;
  __shared__ float4 along[QuotientBoxes::tile_rows][box_words];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int x0 = blockIdx.x * box_width, y0 = blockIdx.y * QuotientBoxes::height;
  const int x = x0 + 4 * lane, first = warp * rows;
  const bool stores = lane < box_words && x < margins.width;
  const int u = x - 8;  // the first two lanes provide the samples before the box
  uint4 weights[QuotientBoxes::passes];
#pragma unroll
  for (int i = 0; i < QuotientBoxes::passes; ++i) {
    const int y = y0 + i * QuotientBoxes::warps + warp - box_reach;
    const bool inside = y >= 0 && y < margins.height && u >= 0 && u < margins.width;
    weights[i] = inside ? *reinterpret_cast<const uint4*>(sums.denominator + margins.at(u, y))
                        : make_uint4(0, 0, 0, 0);
  }
#pragma unroll
  for (int i = 0; i < QuotientBoxes::passes; ++i) {
    const int row = i * QuotientBoxes::warps + warp;
    if (row >= QuotientBoxes::tile_rows) break;
    const float4 sum = sums_along(weights[i], window);
    if (lane >= 2) along[row][lane - 2] = sum;
  }
  __syncthreads();
  if (!stores) return;

  float4 v[rows + box_reach];
#pragma unroll
  for (int i = 0; i < rows + box_reach; ++i) v[i] = along[first + i][lane];
#pragma unroll
  for (int i = 0; i < rows; ++i) {
    const int y = y0 + first + i, at = margins.at(x, y);
    if (y >= margins.height) break;
    const auto* const from = reinterpret_cast<const ulonglong2*>(sums.numerator + at);
    const ulonglong2 values[2] = {from[0], from[1]};
    store_quotients(values, v + i, window, noisy + at, margins.width - x, estimate + at);
  }
}

}  // namespace

void normalise(const Quotients& of, const Margins& margins, const std::array<float, patch>& window,
               cudaStream_t stream) {
  dim3 grid = QuotientBoxes::covering(margins.width, margins.height);
  grid.z = of.planes;
  normalise_kernel<<<grid, QuotientBoxes::threads, 0, stream>>>(of, margins, window);
  cuda::check(cudaGetLastError());
}

}  // namespace lull::bm3d
