// What samples near an end pay so that results that lie beyond it do not shift the mean
// (core/sample_ends.h). A block has a window of 128x128 samples, a thread 16 of them, in registers;
// sums are made in a fixed order.

#include <cmath>

#include "core/colour.h"
#include "core/sample_curve.h"
#include "cuda/check.h"
#include "cuda/device_planes.h"
#include "cuda/samples/colour_matrix.cuh"

namespace lull {
namespace {

constexpr int warps = 32, threads = 32 * warps;
constexpr int rows_at_once = threads / toll_window, own = toll_window / rows_at_once;
static_assert(rows_at_once * toll_window == threads && own * rows_at_once == toll_window);

/// Of all threads of the block, in each of them.
__device__ float block_sum(float v, float* room) {
#pragma unroll
  for (int j = 16; j > 0; j >>= 1) v += __shfl_xor_sync(~0u, v, j);
  __syncthreads();  // room may be read still
  if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = v;
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < warps; ++i) sum += room[i];
  return sum;
}

/// Samples of a plane as its curve gives them: of one that is filtered as it is stored.
struct OwnPlane {
  const float *plane, *curve;
  __device__ float at(int place) const { return SampleCurve::at(curve, plane[place]); }
};
/// Of one of R, G and B.
struct OfOpponents {
  Planes planes;
  ColourMatrix colour;
  int channel;
  const float* curve;
  __device__ float at(int place) const {
    return SampleCurve::at(
        curve, colour.row(channel, planes[0][place], planes[1][place], planes[2][place]));
  }
};

template <class Plane>
__global__ void __launch_bounds__(threads)
    tolls_kernel(const Plane plane, const Margins margins, const SampleEnd end, float* tolls) {
  __shared__ float room[warps];
  constexpr int around = (toll_window - toll_cell) / 2;
  const int x = static_cast<int>(blockIdx.x) * toll_cell - around + threadIdx.x % toll_window;
  const int top = static_cast<int>(blockIdx.y) * toll_cell - around + threadIdx.x / toll_window;
  float depths[own];
  float sum = 0;
  bool is_beyond = false;
#pragma unroll
  for (int k = 0; k < own; ++k) {
    const int y = top + k * rows_at_once;
    depths[k] = end.reach;  // not near
    if (x < 0 || x >= margins.width || y < 0 || y >= margins.height) continue;
    const float depth = end.depth(plane.at(margins.at(x, y)));
    if (!end.is_near(depth)) continue;
    depths[k] = depth;
    sum += depth;
    is_beyond |= depth < 0;
  }
  float toll = 0;
  if (__syncthreads_or(is_beyond)) {
    sum = block_sum(sum, room);
    for (int round = 0; round < TollSums::rounds; ++round) {
      TollSums sums;
#pragma unroll
      for (int k = 0; k < own; ++k)
        if (end.is_near(depths[k])) sums.add(end, depths[k], toll);
      sums.left = block_sum(sums.left, room);
      sums.shares = block_sum(sums.shares, room);
      toll = sums.next(end, sum, toll);
    }
  }
  if (threadIdx.x == 0) tolls[blockIdx.y * gridDim.x + blockIdx.x] = toll;
}

template <class Plane>
void find(const Plane& plane, const Margins& margins, const WayBack& way, cudaStream_t stream) {
  const dim3 grid(toll_cells(margins.width), toll_cells(margins.height));
  if (way.low_tolls != nullptr)
    tolls_kernel<<<grid, threads, 0, stream>>>(plane, margins, way.ends.low, way.low_tolls);
  if (way.high_tolls != nullptr)
    tolls_kernel<<<grid, threads, 0, stream>>>(plane, margins, way.ends.high, way.high_tolls);
}

}  // namespace

void find_tolls(const Planes& planes, int first, int count, Colour colour, const Margins& margins,
                const WaysBack& back, cudaStream_t stream) {
  for (int i = 0; i < count; ++i) {
    const WayBack& way = back[first + i];
    if (way.low_tolls == nullptr && way.high_tolls == nullptr) continue;
    if (colour == Colour::opponent)
      find(OfOpponents{planes, ColourMatrix(opponent_inverse), i, way.curve}, margins, way, stream);
    else
      find(OwnPlane{planes[i], way.curve}, margins, way, stream);
  }
  cuda::check(cudaGetLastError());
}

}  // namespace lull
