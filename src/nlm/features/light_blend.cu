// The two results of each pixel of a render become one, by what either is estimated to cost
// (formulas.h, steps 4 and 5). One thread for a pixel.

#include <cmath>

#include "cuda/check.h"
#include "nlm/features/kernels.h"

namespace lull::nlm::cuda {
namespace {

constexpr dim3 threads{32, 8};

/// The mean of what `value` gives around (x, y), as far as it is in the plane.
template <class Value>
__device__ float mean_around(int x, int y, int width, int height, int radius, Value value) {
  float sum = 0;
  int count = 0;
  for (int v = max(y - radius, 0); v <= min(y + radius, height - 1); ++v)
    for (int u = max(x - radius, 0); u <= min(x + radius, width - 1); ++u)
      sum += value(u, v), ++count;
  return sum / static_cast<float>(count);
}

struct Pixel {
  int x, y;
  bool inside;
  std::ptrdiff_t at;
  __device__ explicit Pixel(const Space& space)
      : x(static_cast<int>(blockIdx.x * threads.x + threadIdx.x)),
        y(static_cast<int>(blockIdx.y * threads.y + threadIdx.y)),
        inside(x < space.width && y < space.height),
        at(static_cast<std::ptrdiff_t>(y) * space.width + x) {}
};

__global__ void cost_kernel(LightJob job, float* __restrict__ cost) {
  const Pixel pixel(job.space);
  if (!pixel.inside) return;
  const int pitch = job.space.pitch, pad = job.space.pad;
  const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(pixel.y + pad) * pitch + pixel.x + pad;
  float sum = 0;
  for (int c = 0; c < job.channels; ++c) {
    const float* variance = job.source[0].variance[c];
    const float level = mean_around(
        pixel.x, pixel.y, job.space.width, job.space.height, level_radius, [&](int u, int v) {
          return variance[static_cast<std::ptrdiff_t>(v + pad) * pitch + u + pad];
        });
    const float u = job.source[0].light[c][at];
    const float a = job.colour.value[c][pixel.at] - u, b = job.guided.value[c][pixel.at] - u;
    const float slope = job.guided.derivative[c][pixel.at] - job.colour.derivative[c][pixel.at];
    sum += (b * b - a * a + 2 * variance[at] * slope) / level;
  }
  cost[pixel.at] = sum / static_cast<float>(job.channels);
}

__global__ void share_kernel(Space space, const float* __restrict__ cost,
                             float* __restrict__ share) {
  const Pixel pixel(space);
  if (!pixel.inside) return;
  const float mean = mean_around(
      pixel.x, pixel.y, space.width, space.height, error_radius,
      [&](int u, int v) { return cost[static_cast<std::ptrdiff_t>(v) * space.width + u]; });
  share[pixel.at] = 1 / (1 + expf(mean / temper));
}

__global__ void blend_kernel(LightJob job, const float* __restrict__ share, float* r0, float* r1,
                             float* r2) {
  const Pixel pixel(job.space);
  if (!pixel.inside) return;
  const float s = mean_around(
      pixel.x, pixel.y, job.space.width, job.space.height, share_radius,
      [&](int u, int v) { return share[static_cast<std::ptrdiff_t>(v) * job.space.width + u]; });
  float* const results[3] = {r0, r1, r2};
  for (int c = 0; c < job.channels; ++c) {
    const float f = job.colour.value[c][pixel.at], g = job.guided.value[c][pixel.at];
    results[c][pixel.at] = f + s * (g - f);
  }
}

dim3 grid_of(const Space& space) {
  return dim3((static_cast<unsigned>(space.width) + threads.x - 1) / threads.x,
              (static_cast<unsigned>(space.height) + threads.y - 1) / threads.y);
}

}  // namespace

void blend_light(const LightJob& job, float* cost, float* share,
                 const std::array<float*, 3>& results, cudaStream_t stream) {
  const dim3 grid = grid_of(job.space);
  cost_kernel<<<grid, threads, 0, stream>>>(job, cost);
  share_kernel<<<grid, threads, 0, stream>>>(job.space, cost, share);
  blend_kernel<<<grid, threads, 0, stream>>>(job, share, results[0], results[1], results[2]);
  lull::cuda::check(cudaGetLastError());
}

}  // namespace lull::nlm::cuda
