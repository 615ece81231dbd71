// Computes the clipping shifts: the maximum distances by which clipping moves samples near a limit
// to preserve local means (core/clip_limits.h). The order of all sums is fixed, so that results are
// reproducible.

#include <cmath>

#include "core/colour.h"
#include "core/sample_curve.h"
#include "cuda/check.h"
#include "cuda/device_planes.h"
#include "cuda/samples/colour_matrix.cuh"

namespace lull {
namespace {

constexpr int warps = 32, threads = 32 * warps;
constexpr int rows_at_once = threads / clip_shift_window, own = clip_shift_window / rows_at_once;
static_assert(rows_at_once * clip_shift_window == threads &&
              own * rows_at_once == clip_shift_window);

/// Returns the sum of `v` over all threads of the thread block. Every thread receives the sum.
__device__ float block_sum(float v, float* scratch) {
#pragma unroll
  for (int j = 16; j > 0; j >>= 1) v += __shfl_xor_sync(~0u, v, j);
  __syncthreads();  // other warps may still read scratch
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < warps; ++i) sum += scratch[i];
  return sum;
}

/// The output samples of a plane that needs no colour transform.
struct PlaneOutput {
  const float *plane, *curve;
  __device__ float at(int place) const { return SampleCurve::at(curve, plane[place]); }
};
/// The output samples of R, G or B, computed from the planes of the opponent colour space.
struct OpponentChannel {
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
    clip_shift_kernel(const Plane plane, const Margins margins, const ClipLimit limit,
                      float* shifts) {
  __shared__ float scratch[warps];
  constexpr int around = (clip_shift_window - clip_shift_cell) / 2;
  const int x =
      static_cast<int>(blockIdx.x) * clip_shift_cell - around + threadIdx.x % clip_shift_window;
  const int top =
      static_cast<int>(blockIdx.y) * clip_shift_cell - around + threadIdx.x / clip_shift_window;
  float depths[own];
  float sum = 0;
  bool is_beyond = false;
#pragma unroll
  for (int k = 0; k < own; ++k) {
    const int y = top + k * rows_at_once;
    depths[k] = limit.reach;  // marks a sample that is not near the limit
    if (x < 0 || x >= margins.width || y < 0 || y >= margins.height) continue;
    const float depth = limit.depth(plane.at(margins.at(x, y)));
    if (!limit.is_near(depth)) continue;
    depths[k] = depth;
    sum += depth;
    is_beyond |= depth < 0;
  }
  float shift = 0;
  if (__syncthreads_or(is_beyond)) {
    sum = block_sum(sum, scratch);
    for (int round = 0; round < ClipShiftSums::rounds; ++round) {
      ClipShiftSums sums;
#pragma unroll
      for (int k = 0; k < own; ++k)
        if (limit.is_near(depths[k])) sums.add(limit, depths[k], shift);
      sums.left = block_sum(sums.left, scratch);
      sums.shares = block_sum(sums.shares, scratch);
      shift = sums.next(limit, sum, shift);
    }
  }
  if (threadIdx.x == 0) shifts[blockIdx.y * gridDim.x + blockIdx.x] = shift;
}

template <class Plane>
void find(const Plane& plane, const Margins& margins, const OutputTransform& transform,
          cudaStream_t stream) {
  const dim3 grid(clip_shift_cells(margins.width), clip_shift_cells(margins.height));
  if (transform.low_shifts != nullptr)
    clip_shift_kernel<<<grid, threads, 0, stream>>>(plane, margins, transform.limits.low,
                                                    transform.low_shifts);
  if (transform.high_shifts != nullptr)
    clip_shift_kernel<<<grid, threads, 0, stream>>>(plane, margins, transform.limits.high,
                                                    transform.high_shifts);
}

}  // namespace

void find_clip_shifts(const Planes& planes, int first, int count, Colour colour,
                      const Margins& margins, const OutputTransforms& back, cudaStream_t stream) {
  for (int i = 0; i < count; ++i) {
    const OutputTransform& transform = back[first + i];
    if (transform.low_shifts == nullptr && transform.high_shifts == nullptr) continue;
    if (colour == Colour::opponent)
      find(OpponentChannel{planes, ColourMatrix(opponent_inverse), i, transform.curve}, margins,
           transform, stream);
    else
      find(PlaneOutput{planes[i], transform.curve}, margins, transform, stream);
  }
  cuda::check(cudaGetLastError());
}

}  // namespace lull
