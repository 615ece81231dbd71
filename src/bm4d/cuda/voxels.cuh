#pragma once
// Helpers of kernels in which each thread processes the voxels at one position (x, y) in several
// consecutive slices.

#include "bm4d/cuda/kernels.h"

namespace lull::bm4d::cuda {

inline constexpr int block_x = 32, block_y = 8;
inline constexpr int slice_run = 8;

/// Returns the grid of thread blocks. Along z, each block processes several consecutive slices.
inline dim3 blocks_of(int width, int height, SliceSpan slices) {
  return dim3((width + block_x - 1) / block_x, (height + block_y - 1) / block_y,
              (slices.size() + slice_run - 1) / slice_run);
}
__device__ inline int2 own_place() {
  return {static_cast<int>(blockIdx.x * block_x + threadIdx.x),
          static_cast<int>(blockIdx.y * block_y + threadIdx.y)};
}
__device__ inline SliceSpan own_slices(SliceSpan all) {
  const int first = all.first + static_cast<int>(blockIdx.z) * slice_run;
  return {first, min(first + slice_run, all.end)};
}

__device__ inline std::uint8_t to_byte(float v, const GuideQuantiser& scale) {
  v = (v - scale.low) * scale.scale;
  return static_cast<std::uint8_t>(__float2int_rn(fminf(fmaxf(v, 0.0f), 255.0f)));
}

template <class Sample>
__device__ Sample& stored_sample(const StoredPlanes& planes, int z, int2 p) {
  std::byte* const row = planes.bytes.at(z) + static_cast<std::size_t>(p.y) * planes.pitch;
  return reinterpret_cast<Sample*>(row)[p.x];
}

}  // namespace lull::bm4d::cuda
