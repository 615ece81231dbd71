#pragma once
// The offsets in device memory of all patches of a batch, for kernels that access device memory
// directly.

#include "bm3d/cuda/filter/kernels.h"

namespace lull::bm3d {

/// Returns the offset, in samples, of patch `k` of a group from the first element of a plane of the
/// reference frame. The patch may be in another frame. `Offset` may be a 32-bit type if
/// FilterArgs::has_narrow_offsets() is true.
template <class Offset = std::int64_t>
__device__ __forceinline__ Offset patch_offset(const FilterArgs& a, int reference, int k) {
  const int reference_tile = reference / references_per_tile, r = reference % references_per_tile;
  const int i = (a.batch.x0 + reference_tile % a.batch.tiles_x) * reference_tile_side +
                r % reference_tile_side;
  const int j = (a.batch.y0 + reference_tile / a.batch.tiles_x) * reference_tile_side +
                r / reference_tile_side;
  const std::uint32_t packed = a.groups.displacements[reference * a.groups.capacity + k];
  return static_cast<Offset>(a.frames.distance[displacement_t(packed)]) +
         a.margins.at(a.grid.x(i) + displacement_x(packed), a.grid.y(j) + displacement_y(packed));
}

/// Returns true if a reference patch is on the grid of reference patches. Batches may extend beyond
/// this grid.
__device__ __forceinline__ bool is_on_grid(const FilterArgs& a, int reference) {
  const int reference_tile = reference / references_per_tile, r = reference % references_per_tile;
  return (a.batch.x0 + reference_tile % a.batch.tiles_x) * reference_tile_side +
                 r % reference_tile_side <
             a.grid.count_x &&
         (a.batch.y0 + reference_tile / a.batch.tiles_x) * reference_tile_side +
                 r / reference_tile_side <
             a.grid.count_y;
}

}  // namespace lull::bm3d
