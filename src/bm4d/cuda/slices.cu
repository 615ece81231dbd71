// What is done to whole slices: a thread for each voxel.

#include "bm4d/cuda/kernels.h"
#include "cuda/check.h"

namespace lull::bm4d::cuda {
namespace {

constexpr int block_x = 32, block_y = 8;

dim3 blocks_of(int width, int height) {
  return dim3((width + block_x - 1) / block_x, (height + block_y - 1) / block_y);
}

__global__ void guide_kernel(const float* samples, Space space, ByteScale scale,
                             std::uint8_t* guide) {
  const int x = blockIdx.x * block_x + threadIdx.x, y = blockIdx.y * block_y + threadIdx.y;
  if (x >= space.pitch || y >= space.height) return;
  const std::size_t at = static_cast<std::size_t>(y) * space.pitch + x;
  const float v = x < space.width ? (samples[at] - scale.low) * scale.scale : 0.0f;
  guide[at] = static_cast<std::uint8_t>(__float2int_rn(fminf(fmaxf(v, 0.0f), 255.0f)));
}

struct Window {
  float at[max_cube];
};

__global__ void finish_kernel(Ring<Sum> numerator, Ring<Sum> weights, int z, int first,
                              const float* noisy, Space space, int cube, Window window,
                              float* estimate) {
  const int x = blockIdx.x * block_x + threadIdx.x, y = blockIdx.y * block_y + threadIdx.y;
  if (x >= space.width || y >= space.height) return;
  const std::size_t at = static_cast<std::size_t>(y) * space.pitch + x;
  float sum = 0;
  for (int c = 0; c < cube && z - c >= first; ++c) {
    const Sum* slice = weights.at(z - c);
    for (int b = 0; b < cube && b <= y; ++b)
      for (int a = 0; a < cube && a <= x; ++a) {
        const auto weight = static_cast<float>(slice[at - b * space.pitch - a]);
        sum += window.at[c] * window.at[b] * window.at[a] * (weight / weight_unit);
      }
  }
  const auto total = static_cast<float>(static_cast<long long>(numerator.at(z)[at]));
  estimate[at] = sum > 0 ? estimate_centre + total / estimate_unit / sum : noisy[at];
}

}  // namespace

void make_guide(const float* samples, const Space& space, const ByteScale& scale,
                std::uint8_t* guide, cudaStream_t stream) {
  guide_kernel<<<blocks_of(space.pitch, space.height), dim3(block_x, block_y), 0, stream>>>(
      samples, space, scale, guide);
  lull::cuda::check(cudaGetLastError());
}

void finish_slice(const Ring<Sum>& numerator, const Ring<Sum>& weights, int z, int first,
                  const Ring<float>& noisy, const Space& space, int cube,
                  const std::array<float, max_cube>& window, float* estimate, cudaStream_t stream) {
  Window axis{};
  for (int i = 0; i < max_cube; ++i) axis.at[i] = window[i];
  finish_kernel<<<blocks_of(space.width, space.height), dim3(block_x, block_y), 0, stream>>>(
      numerator, weights, z, first, noisy.at(z), space, cube, axis, estimate);
  lull::cuda::check(cudaGetLastError());
}

}  // namespace lull::bm4d::cuda
