#pragma once
// Replaces and restores out-of-range float samples (core/float_range.h), one sample in each thread.

#include <cstddef>

#include "core/float_range.h"
#include "cuda/device_planes.h"

namespace lull {

struct FloatPlane {
  std::byte* data;
  int pitch, width, height;  // pitch in bytes

  __device__ float& operator()(int x, int y) const {
    return reinterpret_cast<float*>(data + static_cast<std::size_t>(y) * pitch)[x];
  }
};

/// Number of adjacent cells (8x8 samples) that a warp of 32 threads sums. Each thread sums one row
/// of a cell.
inline constexpr int cells_of_warp = 4;
static_assert(cells_of_warp * guard_cell == 32);

__device__ inline void sum_cells(const FloatPlane& plane, const FloatGuard& guard, CellSum* cells) {
  const int lane = static_cast<int>(threadIdx.x), columns = guard_cells(plane.width),
            rows = guard_cells(plane.height);
  const int column = static_cast<int>(blockIdx.x) * cells_of_warp + lane % cells_of_warp;
  const int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const int y = row * guard_cell + lane / cells_of_warp;
  CellSum sum;
  if (column < columns && y < plane.height)
    for (int x = column * guard_cell; x < min((column + 1) * guard_cell, plane.width); ++x)
      if (const float v = plane(x, y) * guard.scale(); !guard.is_out_of_range(v))
        sum.sum += FloatGuard::level(v), ++sum.count;
  for (int step = 16; step >= cells_of_warp; step /= 2) {
    sum.sum += __shfl_xor_sync(~0u, sum.sum, step);
    sum.count += __shfl_xor_sync(~0u, sum.count, step);
  }
  if (lane < cells_of_warp && column < columns && row < rows) cells[row * columns + column] = sum;
}

/// Returns the value that replaces the sample at (x, y) in the filter input.
__device__ inline float filter_input(const FloatPlane& plane, const FloatGuard& guard,
                                     const CellSum* cells, int x, int y) {
  const float sample = plane(x, y), v = sample * guard.scale();
  if (FloatGuard::is_in_filter_range(v)) return sample;
  const int columns = guard_cells(plane.width);
  const auto sample_at = [&](int i, int j) { return plane(i, j) * guard.scale(); };
  const auto cell_at = [&](int i, int j) { return cells[j * columns + i]; };
  const float replaced =
      guard.is_out_of_range(v)
          ? guard.replacement(v, x, y, plane.width, plane.height, sample_at, cell_at)
          : FloatGuard::clamped(v);
  return replaced / guard.scale();
}

}  // namespace lull
