#pragma once
// Selects the voxels of a series for the decomposition.

#include <cstdint>
#include <span>
#include <vector>

#include "series/samples.h"
#include "series/series_noise.h"

namespace lull::series {

enum class VoxelState : std::uint8_t {
  complete,  // the voxel has a sample in each volume
  partial,   // some volumes have no sample; replacements are computed for these
  /// The voxel has no sample in any volume, or the same sample in all volumes. Such a voxel
  /// contains no noise, for example outside of a masked object. The filter does not change the
  /// voxel.
  constant,
};

/// Returns the state of each voxel in the given volumes. There must be at least 2 volumes.
[[nodiscard]] std::vector<VoxelState> classify_voxels(const Samples& samples,
                                                      std::span<const int> volumes);

/// Returns the complete voxels inside the object, in ascending order. With a mask, the object
/// consists of the voxels that `mask` selects. Without a mask, the object consists of the voxels
/// whose energy exceeds the energy of noise. If the object has too few voxels for a decomposition,
/// the function returns all complete voxels.
/// @param mask  one flag per voxel; empty: no mask
[[nodiscard]] std::vector<std::uint32_t> select_voxels(const Samples& samples,
                                                       const Stabiliser& stabiliser,
                                                       std::span<const int> volumes,
                                                       std::span<const VoxelState> states,
                                                       std::span<const std::uint8_t> mask);

}  // namespace lull::series
