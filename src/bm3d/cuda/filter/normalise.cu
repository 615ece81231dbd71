// The end of a phase: the sum of weighted estimates divided by the sum of weights. Weights are sums
// over boxes of 8x8 samples, made along one axis after the other, in shared memory.

#include "bm3d/cuda/filter/filter.cuh"
#include "bm3d/cuda/filter/kernels.h"
#include "cuda/boxes.cuh"
#include "cuda/check.h"

namespace lull::bm3d {
namespace {

static_assert(reach == patch - 1);

/// The weight of the groups at a sample is the sum of those of the 64 patches that hold it, times
/// the aggregation window.
__global__ void __launch_bounds__(box_threads)
    normalise_kernel(Sums sums, const float* noisy, Margins margins,
                     std::array<float, patch> window, float* estimate) {
  __shared__ alignas(16) float weights[box_height + reach][box_width + patch];
  __shared__ alignas(16) float rows[box_height + reach][box_width];
  const int x0 = blockIdx.x * box_width, y0 = blockIdx.y * box_height;

  for (int i = threadIdx.x; i < (box_height + reach) * (box_width + patch); i += box_threads) {
    const int row = i / (box_width + patch), column = i % (box_width + patch);
    const int x = x0 + column - patch, y = y0 + row - reach;  // within the margins
    weights[row][column] = x < margins.width && y < margins.height
                               ? static_cast<float>(sums.denominator[margins.at(x, y)])
                               : 0.0f;
  }
  __syncthreads();

  for (int i = threadIdx.x; i < (box_height + reach) * (box_width / 4); i += box_threads) {
    const int row = i / (box_width / 4), quarter = i % (box_width / 4);
    float v[3 * 4], sum[4] = {};  // places 4 quarter - 8 .. + 3
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      const float4 four = *reinterpret_cast<const float4*>(&weights[row][4 * (quarter + k)]);
      v[4 * k] = four.x, v[4 * k + 1] = four.y, v[4 * k + 2] = four.z, v[4 * k + 3] = four.w;
    }
#pragma unroll
    for (int k = 0; k < 4; ++k)
#pragma unroll
      for (int j = 0; j < patch; ++j) sum[k] += window[j] * v[k + patch - j];
    *reinterpret_cast<float4*>(&rows[row][4 * quarter]) =
        make_float4(sum[0], sum[1], sum[2], sum[3]);
  }
  __syncthreads();

  const int column = threadIdx.x % box_width, first = threadIdx.x / box_width * column_rows;
  float v[column_rows + reach];
#pragma unroll
  for (int i = 0; i < column_rows + reach; ++i) v[i] = rows[first + i][column];
  const int x = x0 + column;
#pragma unroll
  for (int i = 0; i < column_rows; ++i) {
    const int y = y0 + first + i;
    if (x >= margins.width || y >= margins.height) continue;
    float weight = 0;
#pragma unroll
    for (int j = 0; j < patch; ++j) weight += window[j] * v[i + reach - j];
    const int at = margins.at(x, y);
    const auto value = static_cast<float>(static_cast<long long>(sums.numerator[at]));
    estimate[at] =
        weight > 0 ? value * (weight_scale / value_scale) / weight + mid_level : noisy[at];
  }
}

}  // namespace

void normalise(const Sums& sums, const float* noisy, const Margins& margins,
               const std::array<float, patch>& window, float* estimate, cudaStream_t stream) {
  normalise_kernel<<<boxes_for(margins.width, margins.height), box_threads, 0, stream>>>(
      sums, noisy, margins, window, estimate);
  cuda::check(cudaGetLastError());
}

}  // namespace lull::bm3d
