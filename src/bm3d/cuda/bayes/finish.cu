// Completes a Bayes phase: divides the sum of the estimates of each sample by the number of patches
// that contain the sample.

#include "bm3d/cuda/bayes/kernels.h"
#include "bm3d/cuda/filter/filter.cuh"
#include "cuda/check.h"

namespace lull::bm3d {
namespace {

__global__ void bayes_normalise_kernel(Sums sums, Margins margins, int side, const float* blended,
                                       float share, float* estimate) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= margins.width || y >= margins.height) return;
  std::uint32_t patches = 0;
  for (int v = max(0, y - side + 1); v <= y; ++v)
    for (int u = max(0, x - side + 1); u <= x; ++u) patches += sums.denominator[margins.at(u, v)];
  const int at = margins.at(x, y);
  const auto value = static_cast<float>(static_cast<long long>(sums.numerator[at]));
  // The divisor is not 0, because the patches of the grid cover every sample.
  const float mean = value / (value_scale * static_cast<float>(patches)) + mid_level;
  estimate[at] = blended == nullptr ? mean : blended[at] + share * (mean - blended[at]);
}

}  // namespace

void bayes_normalise(const Sums& sums, const Margins& margins, int side, const float* blended,
                     float share, float* estimate, cudaStream_t stream) {
  const dim3 block(32, 8);
  const dim3 grid((margins.width + block.x - 1) / block.x,
                  (margins.height + block.y - 1) / block.y);
  bayes_normalise_kernel<<<grid, block, 0, stream>>>(sums, margins, side, blended, share, estimate);
  cuda::check(cudaGetLastError());
}

}  // namespace lull::bm3d
