#pragma once
// Estimates the noise levels of the volumes of a series from cubes of voxels and from the residuals
// (the samples without the signal components).

#include <vector>

#include "series/fit.h"

namespace lull::series {

struct EstimatedNoise {
  SeriesNoise initial;  // before the correction by residuals: given, or from cubes (cube_levels.h)
  SeriesNoise found;    // after the correction
};

/// Corrects the noise of a series.
/// @param initial  noise estimated from single volumes; at least 1 of the volumes must have noise
/// @param states  the state of each voxel
[[nodiscard]] EstimatedNoise estimate_noise(const Samples& samples, const SeriesNoise& initial,
                                            const FitOptions& options,
                                            const std::vector<VoxelState>& states);

/// Returns the noise before the correction by residuals (EstimatedNoise::initial).
[[nodiscard]] SeriesNoise noise_by_cubes(const Samples& samples, const SeriesNoise& initial,
                                         const FitOptions& options,
                                         const std::vector<VoxelState>& states);

}  // namespace lull::series
