// What filters see of float samples, and what they do not see (core/float_range.h). Memory-bound: a
// thread takes a sample, a warp 32 of a row; outsiders, which look around, are few.

#include "cuda/check.h"
#include "cuda/device_planes.h"

namespace lull {
namespace {

constexpr dim3 block{32, 8};  // of threads
constexpr dim3 blocks_for(int width, int height) {
  return dim3((width + block.x - 1) / block.x, (height + block.y - 1) / block.y);
}
__device__ int2 own_place() {
  return {static_cast<int>(blockIdx.x * block.x + threadIdx.x),
          static_cast<int>(blockIdx.y * block.y + threadIdx.y)};
}

struct FloatPlane {
  std::byte* data;
  int pitch, width, height;
  FloatPlane(const RawPlanes& raw, const FrameFormat& format, int i)
      : data(static_cast<std::byte*>(raw.data[i])),
        pitch(raw.pitch[i]),
        width(format.plane_width(i)),
        height(format.plane_height(i)) {}
  __device__ float& operator()(int x, int y) const {
    return reinterpret_cast<float*>(data + static_cast<std::size_t>(y) * pitch)[x];
  }
};

/// A warp takes 4 neighbouring cells, a thread a row of one: that is a sector of memory.
constexpr int cells_of_warp = 4;
static_assert(cells_of_warp * guard_cell == 32 && block.x == 32);
__global__ void cells_kernel(const FloatPlane plane, const FloatGuard guard, CellSum* cells) {
  const int lane = threadIdx.x, columns = guard_cells(plane.width),
            rows = guard_cells(plane.height);
  const int column = static_cast<int>(blockIdx.x) * cells_of_warp + lane % cells_of_warp;
  const int row = static_cast<int>(blockIdx.y * block.y + threadIdx.y);
  const int y = row * guard_cell + lane / cells_of_warp;
  CellSum sum;
  if (column < columns && y < plane.height)
    for (int x = column * guard_cell; x < min((column + 1) * guard_cell, plane.width); ++x)
      if (const float v = plane(x, y) * guard.scale(); !guard.is_outsider(v))
        sum.sum += FloatGuard::level(v), ++sum.count;
  for (int step = 16; step >= cells_of_warp; step /= 2) {
    sum.sum += __shfl_xor_sync(~0u, sum.sum, step);
    sum.count += __shfl_xor_sync(~0u, sum.count, step);
  }
  if (lane < cells_of_warp && column < columns && row < rows) cells[row * columns + column] = sum;
}

__global__ void guard_kernel(const FloatPlane plane, const FloatGuard guard, const CellSum* cells,
                             const FloatPlane seen) {
  const int2 p = own_place();
  if (p.x >= plane.width || p.y >= plane.height) return;
  const float sample = plane(p.x, p.y), v = sample * guard.scale();
  if (FloatGuard::is_seen(v)) {
    seen(p.x, p.y) = sample;
    return;
  }
  const int columns = guard_cells(plane.width);
  const auto sample_at = [&](int x, int y) { return plane(x, y) * guard.scale(); };
  const auto cell_at = [&](int i, int j) { return cells[j * columns + i]; };
  const float stands_in = guard.is_outsider(v) ? guard.stand_in(v, p.x, p.y, plane.width,
                                                                plane.height, sample_at, cell_at)
                                               : FloatGuard::bounded(v);
  seen(p.x, p.y) = stands_in / guard.scale();
}

__global__ void unguard_kernel(const FloatPlane plane, const FloatGuard guard,
                               const FloatPlane filtered) {
  const int2 p = own_place();
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
    const FloatPlane plane(raw, format, i);
    cells_kernel<<<blocks_for(guard_cells(plane.width) * guard_cell, guard_cells(plane.height)),
                   block, 0, stream>>>(plane, guard, cells[i]);
    guard_kernel<<<blocks_for(plane.width, plane.height), block, 0, stream>>>(
        plane, guard, cells[i], FloatPlane(seen, format, i));
  }
  cuda::check(cudaGetLastError());
}

void unguard_samples(const RawPlanes& raw, const FrameFormat& format,
                     const std::array<float, max_planes>& sigma, const RawPlanes& filtered,
                     cudaStream_t stream) {
  for (int i = 0; i < format.planes(); ++i) {
    const FloatPlane plane(raw, format, i);
    unguard_kernel<<<blocks_for(plane.width, plane.height), block, 0, stream>>>(
        plane, FloatGuard(format, sigma[i]), FloatPlane(filtered, format, i));
  }
  cuda::check(cudaGetLastError());
}

}  // namespace lull
