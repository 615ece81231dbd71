// What filters see of float samples, and what they do not see (core/float_range.h). Memory-bound: a
// thread takes a sample, a warp 32 of a row; outsiders, which look around, are few. Cells are
// summed by a thread each, whose row of samples is a sector of memory.

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

__global__ void cells_kernel(const FloatPlane plane, const FloatGuard guard, CellSum* cells) {
  const int2 p = own_place();
  const int columns = guard_cells(plane.width), rows = guard_cells(plane.height);
  if (p.x >= columns || p.y >= rows) return;
  const int right = min((p.x + 1) * guard_cell, plane.width);
  const int bottom = min((p.y + 1) * guard_cell, plane.height);
  CellSum sum;
  for (int y = p.y * guard_cell; y < bottom; ++y)
    for (int x = p.x * guard_cell; x < right; ++x)
      if (const float v = plane(x, y) * guard.scale(); !guard.is_outsider(v))
        sum.sum += FloatGuard::level(v), ++sum.count;
  cells[p.y * columns + p.x] = sum;
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
    cells_kernel<<<blocks_for(guard_cells(plane.width), guard_cells(plane.height)), block, 0,
                   stream>>>(plane, guard, cells[i]);
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
