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
  /// A voxel without samples, or with equal samples in all volumes, and therefore without noise.
  /// The filter does not change the voxel.
  constant,
};

/// Returns the state of each voxel in the given volumes, at least 2.
[[nodiscard]] std::vector<VoxelState> classify_voxels(const Samples& samples,
                                                      std::span<const int> volumes);

/// Returns the complete voxels inside the object, in ascending order: those of the mask or, without
/// a mask, those with more energy than noise. Fallback: all complete voxels.
/// @param mask  one flag per voxel; empty: no mask
[[nodiscard]] std::vector<std::uint32_t> select_voxels(const Samples& samples,
                                                       const Stabiliser& stabiliser,
                                                       std::span<const int> volumes,
                                                       std::span<const VoxelState> states,
                                                       std::span<const std::uint8_t> mask);

}  // namespace lull::series
