#pragma once
// Estimates, from small cubes of voxels, the noise level of the components with the least signal.

#include <optional>
#include <span>

#include "series/samples/samples.h"
#include "series/samples/series_noise.h"
#include "series/samples/voxels.h"
#include "series/spectrum/symmetric_eigen.h"

namespace lull::series {

/// Estimates the noise level of the last components (smallest eigenvalues), relative to the noise
/// level that `stabiliser` assumes. Uses high frequencies of cubes of 4x4x4 voxels. For Rician
/// noise, voxels with a mean signal below 2.5 noise levels do not count.
/// @param first  index of the first component
/// @return the median level; nullopt for too few usable cubes
[[nodiscard]] std::optional<double> level_of_last_components(const Samples& samples,
                                                             const Stabiliser& stabiliser,
                                                             std::span<const int> volumes,
                                                             const EigenSystem& eigen, int first,
                                                             std::span<const VoxelState> states);

}  // namespace lull::series
