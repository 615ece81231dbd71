// What is done to whole planes of renders, one thread for a pixel: before light.cu they become
// quads, after it the two results of each pixel become one, by what either is estimated to cost
// (formulas.h, steps 4 and 5).

#include <cmath>

#include "cuda/check.h"
#include "nlm/features/kernels.h"
#include "nlm/weights.h"

namespace lull::nlm::cuda {
namespace {

constexpr dim3 threads{32, 8};

__global__ void pack_kernel(FourPlanes planes, Space space, float4* __restrict__ to, int stride) {
  const int column = static_cast<int>(blockIdx.x * threads.x + threadIdx.x);
  const int row = static_cast<int>(blockIdx.y * threads.y + threadIdx.y);
  if (column >= space.pitch || row >= space.height + 2 * space.pad) return;
  const std::ptrdiff_t from =
      space.flat_at(continued(column - space.pad, space.width, Border::mirror),
                    continued(row - space.pad, space.height, Border::mirror));
  const auto sample = [&](const float* plane) { return plane == nullptr ? 0.0f : plane[from]; };
  to[(static_cast<std::ptrdiff_t>(row) * space.pitch + column) * stride] =
      make_float4(sample(planes[0]), sample(planes[1]), sample(planes[2]), sample(planes[3]));
}

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

/// The mean of the variance around (x, y), as far as it is in the plane.
__device__ float3 level_around(const LightPixel* pixels, const Space& space, int x, int y) {
  float3 sum = make_float3(0, 0, 0);
  int count = 0;
  for (int v = max(y - level_radius, 0); v <= min(y + level_radius, space.height - 1); ++v)
    for (int u = max(x - level_radius, 0); u <= min(x + level_radius, space.width - 1); ++u) {
      const float4 variance = __ldg(&pixels[space.at(u, v)].variance);
      sum.x += variance.x, sum.y += variance.y, sum.z += variance.z;
      ++count;
    }
  const float share = 1 / static_cast<float>(count);
  return make_float3(sum.x * share, sum.y * share, sum.z * share);
}

__global__ void cost_kernel(LightJob job, float* __restrict__ cost) {
  const Pixel pixel(job.space);
  if (!pixel.inside) return;
  const LightPixel own = job.source[0].pixels[job.space.at(pixel.x, pixel.y)];
  const float3 level = level_around(job.source[0].pixels, job.space, pixel.x, pixel.y);
  float sum = 0;
  const auto add = [&](int c, float u, float variance, float its_level) {
    const float a = job.colour.value[c][pixel.at] - u, b = job.guided.value[c][pixel.at] - u;
    const float slope = job.guided.derivative[c][pixel.at] - job.colour.derivative[c][pixel.at];
    sum += (b * b - a * a + 2 * variance * slope) / its_level;
  };
  add(0, own.light.x, own.variance.x, level.x);
  if (job.channels > 1) {
    add(1, own.light.y, own.variance.y, level.y);
    add(2, own.light.z, own.variance.z, level.z);
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

void pack_planes(const FourPlanes& planes, const Space& space, float4* to, int stride,
                 cudaStream_t stream) {
  const dim3 grid(
      (static_cast<unsigned>(space.pitch) + threads.x - 1) / threads.x,
      (static_cast<unsigned>(space.height + 2 * space.pad) + threads.y - 1) / threads.y);
  pack_kernel<<<grid, threads, 0, stream>>>(planes, space, to, stride);
  lull::cuda::check(cudaGetLastError());
}

void blend_light(const LightJob& job, float* cost, float* share,
                 const std::array<float*, 3>& results, cudaStream_t stream) {
  const dim3 grid = grid_of(job.space);
  cost_kernel<<<grid, threads, 0, stream>>>(job, cost);
  share_kernel<<<grid, threads, 0, stream>>>(job.space, cost, share);
  blend_kernel<<<grid, threads, 0, stream>>>(job, share, results[0], results[1], results[2]);
  lull::cuda::check(cudaGetLastError());
}

}  // namespace lull::nlm::cuda
