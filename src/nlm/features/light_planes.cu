// Kernels for complete planes of renders, with one thread for each pixel. One kernel interleaves
// four planes to one float4 per pixel. The other kernels blend the colour result and the guided
// result (formulas.h).

#include <cmath>

#include "cuda/check.h"
#include "nlm/features/kernels.h"
#include "nlm/weights.h"

namespace lull::nlm::cuda {
namespace {

constexpr dim3 threads{32, 8};

__global__ void pack_kernel(FourPlanes planes, Space space, float4* __restrict__ to) {
  const int column = static_cast<int>(blockIdx.x * threads.x + threadIdx.x);
  const int row = static_cast<int>(blockIdx.y * threads.y + threadIdx.y);
  if (column >= space.pitch || row >= space.height + 2 * space.pad) return;
  const std::ptrdiff_t from =
      space.flat_at(continued(column - space.pad, space.width, Border::mirror),
                    continued(row - space.pad, space.height, Border::mirror));
  const auto sample = [&](const float* plane) { return plane == nullptr ? 0.0f : plane[from]; };
  to[static_cast<std::ptrdiff_t>(row) * space.pitch + column] =
      make_float4(sample(planes[0]), sample(planes[1]), sample(planes[2]), sample(planes[3]));
}

/// Returns the mean of `value` over a square of pixels around (x, y). The square has a side of 2 *
/// radius + 1 pixels. Pixels outside the plane do not count.
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

/// Returns the mean variance of each channel over a square of pixels around `pixel`. The square has
/// a side of 2 * level_radius + 1 pixels. Pixels outside the plane do not count. All threads of the
/// block must call the function, because the threads share sums.
__device__ float3 find_level(const float4* variances, const Space& space, const Pixel& pixel) {
  constexpr int radius = level_radius, high = threads.y + 2 * radius;
  __shared__ float3 rows[high][threads.x];
  const int first_x = max(pixel.x - radius, 0), last_x = min(pixel.x + radius, space.width - 1);
  for (int i = static_cast<int>(threadIdx.y); i < high; i += threads.y) {
    const int y = pixel.y - static_cast<int>(threadIdx.y) - radius + i;
    float3 sum = make_float3(0, 0, 0);
    if (y >= 0 && y < space.height)
      for (int x = first_x; x <= last_x; ++x) {
        const float4 variance = __ldg(variances + space.at(x, y));
        sum.x += variance.x, sum.y += variance.y, sum.z += variance.z;
      }
    rows[i][threadIdx.x] = sum;
  }
  __syncthreads();
  float3 sum = make_float3(0, 0, 0);
  for (int i = 0; i <= 2 * radius; ++i) {
    const float3 row = rows[threadIdx.y + i][threadIdx.x];
    sum.x += row.x, sum.y += row.y, sum.z += row.z;
  }
  const int first_y = max(pixel.y - radius, 0), last_y = min(pixel.y + radius, space.height - 1);
  const float share = 1 / static_cast<float>((last_x - first_x + 1) * (last_y - first_y + 1));
  return make_float3(sum.x * share, sum.y * share, sum.z * share);
}

__global__ void cost_kernel(LightJob job, float* __restrict__ cost) {
  const Pixel pixel(job.space);
  const DeviceLight& own = job.source[0];
  const float3 level = find_level(own.variance, job.space, pixel);
  if (!pixel.inside) return;
  const std::ptrdiff_t at = job.space.at(pixel.x, pixel.y);
  const float4 light = own.light[at], variance = own.variance[at];
  float sum = 0;
  const auto add = [&](int c, float u, float its_variance, float its_level) {
    const float a = job.colour.value[c][pixel.at] - u, b = job.guided.value[c][pixel.at] - u;
    const float slope = job.guided.derivative[c][pixel.at] - job.colour.derivative[c][pixel.at];
    sum += (b * b - a * a + 2 * its_variance * slope) / its_level;
  };
  add(0, light.x, variance.x, level.x);
  if (job.channels > 1) {
    add(1, light.y, variance.y, level.y);
    add(2, light.z, variance.z, level.z);
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

std::vector<DeviceDisplacement> window_of(int search_radius, const Space& space) {
  std::vector<DeviceDisplacement> window;
  const float inverse = 1 / static_cast<float>(search_radius);
  for (int dy = -search_radius; dy <= search_radius; ++dy)
    for (int dx = -search_radius; dx <= search_radius; ++dx)
      if (is_in_window(dx, dy, search_radius))
        window.push_back({dy * space.pitch + dx, static_cast<float>(dx) * inverse,
                          static_cast<float>(dy) * inverse});
  return window;
}

void pack_planes(const FourPlanes& planes, const Space& space, float4* to, cudaStream_t stream) {
  const dim3 grid(
      (static_cast<unsigned>(space.pitch) + threads.x - 1) / threads.x,
      (static_cast<unsigned>(space.height + 2 * space.pad) + threads.y - 1) / threads.y);
  pack_kernel<<<grid, threads, 0, stream>>>(planes, space, to);
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
