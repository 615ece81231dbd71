// Launches the kernels that handle out-of-range float samples (core/float_range.h).

#include "cuda/check.h"
#include "cuda/samples/float_guard.cuh"

namespace lull {
namespace {

constexpr dim3 guard_block{32, 8};  // threads
constexpr dim3 guard_blocks(int width, int height) {
  return dim3((width + guard_block.x - 1) / guard_block.x,
              (height + guard_block.y - 1) / guard_block.y);
}
__device__ int2 own_position() {
  return {static_cast<int>(blockIdx.x * guard_block.x + threadIdx.x),
          static_cast<int>(blockIdx.y * guard_block.y + threadIdx.y)};
}

FloatPlane float_plane_of(const RawPlanes& raw, const FrameFormat& format, int i) {
  return {static_cast<std::byte*>(raw.data[i]), raw.pitch[i], format.plane_width(i),
          format.plane_height(i)};
}

__global__ void cells_kernel(const FloatPlane plane, const FloatGuard guard, CellSum* cells) {
  sum_cells(plane, guard, cells);
}

__global__ void guard_kernel(const FloatPlane plane, const FloatGuard guard, const CellSum* cells,
                             const FloatPlane seen) {
  const int2 p = own_position();
  if (p.x < plane.width && p.y < plane.height)
    seen(p.x, p.y) = filter_input(plane, guard, cells, p.x, p.y);
}

__global__ void restore_kernel(const FloatPlane plane, const FloatGuard guard,
                               const FloatPlane filtered) {
  const int2 p = own_position();
  if (p.x >= plane.width || p.y >= plane.height) return;
  float& v = filtered(p.x, p.y);
  v = guard.result(plane(p.x, p.y), v);
}

}  // namespace

void guard_samples(const RawPlanes& raw, const FrameFormat& format,
                   const std::array<float, max_planes>& sigma,
                   const std::array<CellSum*, max_planes>& cells, const RawPlanes& seen,
                   cudaStream_t stream) {
  for (int i = 0; i < format.planes(); ++i) {
    const FloatGuard guard(format, sigma[i]);
    const FloatPlane plane = float_plane_of(raw, format, i);
    cells_kernel<<<guard_blocks(guard_cells(plane.width) * guard_cell, guard_cells(plane.height)),
                   guard_block, 0, stream>>>(plane, guard, cells[i]);
    guard_kernel<<<guard_blocks(plane.width, plane.height), guard_block, 0, stream>>>(
        plane, guard, cells[i], float_plane_of(seen, format, i));
  }
  cuda::check(cudaGetLastError());
}

void restore_samples(const RawPlanes& raw, const FrameFormat& format,
                     const std::array<float, max_planes>& sigma, const RawPlanes& filtered,
                     cudaStream_t stream) {
  for (int i = 0; i < format.planes(); ++i) {
    const FloatPlane plane = float_plane_of(raw, format, i);
    restore_kernel<<<guard_blocks(plane.width, plane.height), guard_block, 0, stream>>>(
        plane, FloatGuard(format, sigma[i]), float_plane_of(filtered, format, i));
  }
  cuda::check(cudaGetLastError());
}

}  // namespace lull
