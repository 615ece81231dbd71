// Computes the weighted means of the estimates (sums of estimates divided by sums of weights), and
// the moments of y - z, with one thread per sample.

#include "cuda/check.h"
#include "linear/cuda/combine_sums.h"
#include "linear/cuda/kernels_time.h"

namespace lull::linear {
namespace {

/// Divides the sums of weighted estimates by the sums of weights. `AllSums` is the class
/// CombineSums or TimeSums. The sums of weighted estimates are in units of 1 / (weight_scale *
/// value_scale) (combine_sums.h).
template <class AllSums>
__global__ void finish_kernel(AllSums sums, float value_scale, Margins margins, int side, float* x,
                              float* z) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= margins.width || row >= margins.height) return;
  unsigned long long weight = 0;
  for (int v = max(0, row - side + 1); v <= row; ++v)
    for (int u = max(0, column - side + 1); u <= column; ++u)
      weight += sums.weights[margins.at(u, v)];
  const int at = margins.at(column, row);
  // The divisor is not 0, because the patches of the grid cover every sample.
  const double share = 1 / (static_cast<double>(value_scale) * static_cast<double>(weight));
  const auto mean = [&](auto* sum) {
    return static_cast<float>(static_cast<double>(static_cast<long long>(sum[at])) * share) +
           mid_level;
  };
  x[at] = mean(sums.x);
  if (z != nullptr) z[at] = mean(sums.z);
}

template <class AllSums>
void launch_finish(const AllSums& sums, float value_scale, const Margins& margins, int side,
                   float* x, float* z, cudaStream_t stream) {
  const dim3 block(32, 8);
  finish_kernel<<<blocks_of(margins, block), block, 0, stream>>>(sums, value_scale, margins, side,
                                                                 x, z);
  cuda::check(cudaGetLastError());
  const auto clear = [&](auto* of) {
    if (of != nullptr) cuda::check(cudaMemsetAsync(of, 0, margins.size() * sizeof(*of), stream));
  };
  clear(sums.x), clear(sums.weights);
  if (z != nullptr) clear(sums.z);
}

__global__ void moments_kernel(const float* y, const float* z, Margins margins, int side,
                               float2* to) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column > margins.width - side || row > margins.height - side) return;
  float2 sum{0, 0};
  for (int v = 0; v < side; ++v)
    for (int u = 0; u < side; ++u) {
      const int at = margins.at(column + u, row + v);
      const float d = y[at] - z[at];
      sum.x += d, sum.y = fmaf(d, d, sum.y);
    }
  to[margins.at(column, row)] = sum;
}

}  // namespace

void patch_moments(const float* y, const float* z, const Margins& margins, int side, float2* to,
                   cudaStream_t stream) {
  const dim3 block(32, 8);
  moments_kernel<<<blocks_of(margins, block), block, 0, stream>>>(y, z, margins, side, to);
  cuda::check(cudaGetLastError());
}

void finish(const CombineSums& sums, const Margins& margins, int side, float* x, float* z,
            cudaStream_t stream) {
  launch_finish(sums, block_value_scale, margins, side, x, z, stream);
}

void finish_over_time(const TimeSums& sums, float value_scale, const Margins& margins, int side,
                      float* x, float* z, cudaStream_t stream) {
  launch_finish(sums, value_scale, margins, side, x, z, stream);
}

}  // namespace lull::linear
