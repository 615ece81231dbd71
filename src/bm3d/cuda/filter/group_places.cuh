#pragma once
// Where the patches of a batch's groups lie, for kernels that read and write device memory.

#include "bm3d/cuda/filter/kernels.h"

namespace lull::bm3d {

/// Place of a group's patch `k` in the planes.
__device__ __forceinline__ int patch_place(const FilterArgs& a, int reference, int k) {
  const int brick = reference / brick_references, r = reference % brick_references;
  const int i = (a.batch.x0 + brick % a.batch.bricks_x) * brick_side + r % brick_side;
  const int j = (a.batch.y0 + brick / a.batch.bricks_x) * brick_side + r / brick_side;
  const std::uint32_t packed = a.groups.displacements[reference * a.groups.capacity + k];
  return a.frames.distance[displacement_t(packed)] +
         a.margins.at(a.grid.x(i) + displacement_x(packed), a.grid.y(j) + displacement_y(packed));
}

/// References beyond the grid repeat the last ones and do not count.
__device__ __forceinline__ bool is_real(const FilterArgs& a, int reference) {
  const int brick = reference / brick_references, r = reference % brick_references;
  return (a.batch.x0 + brick % a.batch.bricks_x) * brick_side + r % brick_side < a.grid.count_x &&
         (a.batch.y0 + brick / a.batch.bricks_x) * brick_side + r / brick_side < a.grid.count_y;
}

}  // namespace lull::bm3d
