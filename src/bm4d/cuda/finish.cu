// Completes a phase: divides the sums of weighted estimates by the sums of weights. Each thread
// processes one position (x, y), slice by slice. For each voxel, it sums the weights of all cubes
// that contain the voxel, along x, then along y, and then along z.

#include "bm4d/cuda/kernels.h"
#include "bm4d/cuda/voxels.cuh"
#include "cuda/check.h"
#include "cuda/samples/sample_type.cuh"

namespace lull::bm4d::cuda {
namespace {

/// Returns the sum of the weights of all cubes that begin in this slice and contain the voxel. The
/// function multiplies each weight by the aggregation window along x and y.
template <int cube>
__device__ float weight_in_slice(const std::uint32_t* weights, int pitch,
                                 const std::array<float, max_cube>& window) {
  float sum = 0;
#pragma unroll
  for (int b = 0; b < cube; ++b) {
    float row = 0;
#pragma unroll
    for (int a = 0; a < cube; ++a)
      row += window[a] * static_cast<float>(__ldg(weights - b * pitch - a));
    sum += window[b] * row;
  }
  return sum;
}

/// Stores the basic estimate as floats and as the 8-bit guide of the second phase.
struct ToNextPhase {
  Ring<float> estimate;
  Ring<std::uint8_t> bytes;
  GuideQuantiser scale;
  __device__ void put(int z, int2, int at, float v) const {
    estimate.at(z)[at] = v;
    if (bytes.data != nullptr) bytes.at(z)[at] = to_byte(v, scale);
  }
};
/// Dithers the sample `v` at `p` of each thread of a warp. Within a dithering group
/// (core/dither/dither.h), the rounding error of each sample influences the following samples.
/// Therefore, each thread computes all samples of the group up to its own sample.
__device__ int dithered_in_group(float v, const Rounding& rounding, int2 p, int width) {
  static_assert(block_x == 32 && 32 % dither_group == 0);
  const int own = p.x % dither_group, first = static_cast<int>(threadIdx.x) - own;
  const int count = min(dither_group, width - (p.x - own));
  const unsigned group = ((1u << count) - 1) << first;
  float carry = rounding.threshold(p.x, p.y);
  int sample = 0;
  for (int k = 0; k < count; ++k) {
    const float other = __shfl_sync(group, v, first + k);
    if (k <= own) sample = dithered(other, rounding.max_value, carry);
  }
  return sample;
}

/// Stores estimates as samples of the output format. Copies out-of-range float samples from
/// `original`.
template <class Sample>
struct ToSamples {
  StoredPlanes original, results;
  float scale;
  __device__ void put(int z, int2 p, int, float v) const {
    if (p.x >= results.width || p.y >= results.height) return;
    v *= scale;
    if constexpr (std::is_same_v<Sample, float>)
      v = results.guard.result(stored_sample<float>(original, z, p), v);
    const Rounding rounding(results.max_value, results.thresholds);
    if (!std::is_same_v<Sample, float> && rounding.dithers())
      stored_sample<Sample>(results, z, p) =
          static_cast<Sample>(dithered_in_group(rounding.clamped(v), rounding, p, results.width));
    else
      stored_sample<Sample>(results, z, p) = to_sample<Sample>(v, rounding);
  }
};

template <int cube, class Results>
__global__ void finish_kernel(const __grid_constant__ PhaseEnd a,
                              const __grid_constant__ Results results) {
  const int2 p = own_place();
  if (p.x >= a.margins.width || p.y >= a.margins.height) return;
  const int at = a.margins.at(p.x, p.y);
  const SliceSpan own = own_slices(a.slices);
  const auto weight_in = [&](int z) {
    return z < a.first
               ? 0.0f
               : weight_in_slice<cube>(a.sums.weights.at(z) + at, a.margins.pitch, a.window);
  };
  float weights[cube];  // sums of weights in the slices z, z - 1, ..
#pragma unroll
  for (int c = 1; c < cube; ++c) weights[c - 1] = weight_in(own.first - c);
#pragma unroll 2  // several slices are loaded before they are used
  for (int z = own.first; z < own.end; ++z) {
#pragma unroll
    for (int c = cube - 1; c > 0; --c) weights[c] = weights[c - 1];
    weights[0] = weight_in(z);
    float weight = 0;
#pragma unroll
    for (int c = 0; c < cube; ++c) weight += a.window[c] * weights[c];
    const auto total =
        static_cast<float>(static_cast<long long>(__ldg(a.sums.numerator.at(z) + at)));
    const float v = weight > 0 ? estimate_centre + total / (estimate_unit / weight_unit) / weight
                               : a.noisy.at(z)[at];
    results.put(z, p, at, v);
  }
}

template <class Results>
void finish(const PhaseEnd& end, const Results& results, cudaStream_t stream) {
  auto* const kernel = end.cube == 3 ? finish_kernel<3, Results> : finish_kernel<4, Results>;
  kernel<<<blocks_of(end.margins.width, end.margins.height, end.slices), dim3(block_x, block_y), 0,
           stream>>>(end, results);
  lull::cuda::check(cudaGetLastError());
}

}  // namespace

void finish_basic(const PhaseEnd& end, const Ring<float>& estimate, const Ring<std::uint8_t>& bytes,
                  const GuideQuantiser& scale, cudaStream_t stream) {
  finish(end, ToNextPhase{estimate, bytes, scale}, stream);
}

void finish_slices(const PhaseEnd& end, const StoredPlanes& original, const StoredPlanes& results,
                   cudaStream_t stream) {
  with_sample_type(results.sample, [&](auto type) {
    const float scale = static_cast<float>(results.full_scale) / 255.0f;
    finish(end, ToSamples<decltype(type)>{original, results, scale}, stream);
  });
}

}  // namespace lull::bm4d::cuda
