#pragma once
// Selects the voxels of a series for the decomposition.

#include <cstdint>
#include <span>
#include <vector>

#include "series/samples/samples.h"
#include "series/samples/series_noise.h"

namespace lull::series {

enum class VoxelState : std::uint8_t {
  complete,  // the voxel has a sample in each volume
  partial,   // some volumes have no sample here; lull computes replacements
  /// A voxel that has no samples, or equal samples in all volumes, and therefore has no noise. The
  /// filter does not change the voxel.
  constant,
};

/// Determines the state of each voxel from the given volumes. `volumes` must contain at least two
/// indices of volumes.
[[nodiscard]] std::vector<VoxelState> classify_voxels(const Samples& samples,
                                                      std::span<const int> volumes);

/// Returns the indices of voxels inside the object that have a sample in each volume, in ascending
/// order. The object consists of the voxels of the mask or, without a mask, of the voxels with more
/// energy than noise. If there are too few such voxels, the function also returns voxels outside
/// the object.
/// @param mask  one flag per voxel; empty: no mask
[[nodiscard]] std::vector<std::uint32_t> select_voxels(const Samples& samples,
                                                       const Stabiliser& stabiliser,
                                                       std::span<const int> volumes,
                                                       std::span<const VoxelState> states,
                                                       std::span<const std::uint8_t> mask);

}  // namespace lull::series
