// The kernel for filters with a patch around every sample (Params::block is 1) and a
// Params::mean_term of 0. Each warp processes one displacement after another (Marques and Pardo
// 2013), so the kernel never stores the weights of a complete plane.

// A lane computes sums of squared differences along one column, with a running sum from row to row.
// To get the sum over a patch, the lane adds the sums of neighbouring lanes.

// The warps of a thread block process the same rectangle of samples at different displacements. The
// thread block adds the sums of its warps in a fixed order.

#include <algorithm>

#include "cuda/check.h"
#include "cuda/shared_memory.h"
#include "nlm/cuda/kernels.h"
#include "nlm/cuda/lanes.cuh"

namespace lull::nlm::cuda {
namespace {

constexpr int warps = 4;
constexpr int rows = 8;  // number of results of a lane, one below the other

/// Samples in shared memory, plane after plane.
struct BoxWindow {
  __host__ __device__ constexpr BoxWindow(int radius, int search)
      : columns(32 + radius + 2 * search),
        height(rows + 2 * radius + 2 * search),
        plane(columns * height) {}
  int columns, height, plane;
};

template <int planes>
__device__ void fill_boxes(const Planes3& from, const Space& space, int x0, int y0,
                           const BoxWindow& window, float* tile) {
  const int last_x = space.width + space.pad - 1, last_y = space.height + space.pad - 1;
  for (int i = static_cast<int>(threadIdx.y * 32 + threadIdx.x); i < window.plane;
       i += warps * 32) {
    const int y = min(y0 + i / window.columns, last_y), x = min(x0 + i % window.columns, last_x);
#pragma unroll
    for (int c = 0; c < planes; ++c) tile[c * window.plane + i] = from[c][space.at(x, y)];
  }
}

/// Returns the sum of `v` over this lane and the next 2 * radius lanes.
template <int radius>
__device__ __forceinline__ float sum_across(float v) {
  const auto from = [](float value, int lanes) {
    return __shfl_down_sync(~0u, value, static_cast<unsigned>(lanes));
  };
  const float two = v + from(v, 1);
  if constexpr (radius == 1) return two + from(v, 2);
  const float four = two + from(two, 2);
  if constexpr (radius == 2) return four + from(v, 4);
  if constexpr (radius == 3) return four + from(two, 4) + from(v, 6);
  return four + from(four, 4) + from(v, 8);
}

/// Filters one or three planes. Thread blocks have (32, warps) threads.
template <int radius, int planes>
__global__ void __launch_bounds__(32 * warps)
    boxes_kernel(Planes3 from, Space space, int search, Curve curve,
                 std::array<float, 3> inverse_scale, Results3 results) {
  constexpr int columns = 32 - 2 * radius, rows_read = rows + 2 * radius;
  extern __shared__ float tile[];
  const BoxWindow window(radius, search);
  const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);
  const int x0 = static_cast<int>(blockIdx.x) * columns, y0 = static_cast<int>(blockIdx.y) * rows;
  fill_boxes<planes>(from, space, x0 - radius - search, y0 - radius - search, window, tile);
  __syncthreads();

  float reference[planes][rows_read], sums[planes][rows], weights[rows];
#pragma unroll
  for (int c = 0; c < planes; ++c)
#pragma unroll
    for (int j = 0; j < rows_read; ++j)
      reference[c][j] = tile[c * window.plane + (j + search) * window.columns + lane + search];
#pragma unroll
  for (int t = 0; t < rows; ++t) {
    weights[t] = 0;
#pragma unroll
    for (int c = 0; c < planes; ++c) sums[c][t] = 0;
  }

  for (int dy = warp; dy <= 2 * search; dy += warps)
#pragma unroll 1
    for (int dx = 0; dx <= 2 * search; ++dx) {
      const float* const candidate = tile + dy * window.columns + lane + dx;
      float squares[rows_read];
#pragma unroll
      for (int j = 0; j < rows_read; ++j) {
        squares[j] = 0;
#pragma unroll
        for (int c = 0; c < planes; ++c) {
          const float d = candidate[c * window.plane + j * window.columns] - reference[c][j];
          squares[j] += d * d;
        }
      }
      float column = 0;
#pragma unroll
      for (int j = 0; j < 2 * radius; ++j) column += squares[j];
#pragma unroll
      for (int t = 0; t < rows; ++t) {
        column += squares[t + 2 * radius];
        const float q = sum_across<radius>(column);
        const float w =
            curve.exponential ? weight<true>(curve.top, q) : weight<false>(curve.top, q);
        weights[t] += w;
#pragma unroll
        for (int c = 0; c < planes; ++c)
          sums[c][t] += w * candidate[c * window.plane + (t + radius) * window.columns + radius];
        column -= squares[t];
      }
    }

  __syncthreads();  // samples are not read after this point
  constexpr int values = (planes + 1) * rows;
  float* const parts = tile;
#pragma unroll
  for (int t = 0; t < rows; ++t) {
    parts[(warp * values + t) * 32 + lane] = weights[t];
#pragma unroll
    for (int c = 0; c < planes; ++c)
      parts[(warp * values + (c + 1) * rows + t) * 32 + lane] = sums[c][t];
  }
  __syncthreads();
  const int x = x0 + lane;
  if (lane >= columns || x >= space.width) return;
  for (int t = warp; t < rows && y0 + t < space.height; t += warps) {
    const auto sum_of = [&](int value) {
      float sum = parts[value * 32 + lane];
#pragma unroll
      for (int k = 1; k < warps; ++k) sum += parts[(k * values + value) * 32 + lane];
      return sum;
    };
    const float all = sum_of(t);
#pragma unroll
    for (int c = 0; c < planes; ++c)
      results[c][space.flat_at(x, y0 + t)] = sum_of((c + 1) * rows + t) / all * inverse_scale[c];
  }
}

template <int radius, int planes>
void launch_boxes(const BoxesPlan& plan, const Planes3& from, const Results3& results,
                  cudaStream_t stream) {
  constexpr int columns = 32 - 2 * radius;
  const BoxWindow window(radius, plan.search);
  const int floats = std::max(planes * window.plane, warps * (planes + 1) * rows * 32);
  std::array<float, 3> inverse{};
  for (int c = 0; c < planes; ++c) inverse[c] = 1 / plan.scale[c];
  const dim3 grid((plan.space.width + columns - 1) / columns,
                  (plan.space.height + rows - 1) / rows);
  const std::size_t bytes = floats * sizeof(float);
  const auto kernel = boxes_kernel<radius, planes>;
  constexpr std::size_t default_limit = 48 << 10;
  if (bytes > default_limit) lull::cuda::allow_shared_memory(kernel);
  kernel<<<grid, dim3(32, warps), bytes, stream>>>(from, plan.space, plan.search, plan.curve,
                                                   inverse, results);
  lull::cuda::check(cudaGetLastError());
}

template <int radius>
void launch_boxes_of(const BoxesPlan& plan, const Planes3& from, const Results3& results,
                     cudaStream_t stream) {
  if (plan.planes == 1)
    launch_boxes<radius, 1>(plan, from, results, stream);
  else
    launch_boxes<radius, 3>(plan, from, results, stream);
}

}  // namespace

void estimate_boxes(const BoxesPlan& plan, const Planes3& planes, const Results3& results,
                    cudaStream_t stream) {
  constexpr void (*by_radius[max_box_radius])(const BoxesPlan&, const Planes3&, const Results3&,
                                              cudaStream_t) = {
      launch_boxes_of<1>, launch_boxes_of<2>, launch_boxes_of<3>, launch_boxes_of<4>};
  by_radius[plan.patch_radius - 1](plan, planes, results, stream);
}

}  // namespace lull::nlm::cuda
