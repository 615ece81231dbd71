#pragma once
// Estimates, from small cubes of voxels, the noise level of the components with the least signal.

#include <optional>
#include <span>

#include "series/samples.h"
#include "series/series_noise.h"
#include "series/spectrum/symmetric_eigen.h"
#include "series/voxels.h"

namespace lull::series {

/// Estimates the noise level of the last components (those with the smallest eigenvalues), relative
/// to the level that the stabilisation assumes. The estimate uses the high frequencies of cubes of
/// 4x4x4 voxels. For Rician noise, it uses only voxels whose mean signal is at least 2.5 times the
/// noise level.
/// @param volumes  the volumes of the eigenvectors
/// @param eigen  the components of these volumes
/// @param first  index of the first component that the function uses
/// @return the median of the levels of these components, or std::nullopt for too few usable cubes
[[nodiscard]] std::optional<double> level_of_last_components(const Samples& samples,
                                                             const Stabiliser& stabiliser,
                                                             std::span<const int> volumes,
                                                             const EigenSystem& eigen, int first,
                                                             std::span<const VoxelState> states);

}  // namespace lull::series
