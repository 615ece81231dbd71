#pragma once
// Noise levels from the samples that the signal components do not explain.

#include <span>

#include "series/basis.h"
#include "series/samples.h"
#include "series/series_noise.h"
#include "series/voxels.h"

namespace lull::series {

/// Returns `noise` with the level of each volume, and the map, corrected by the residuals of the
/// complete voxels. A volume that the components explain nearly completely keeps its level. Samples
/// of Rician noise count where their signal is at least twice the level, because their variance is
/// smaller below that.
/// @param basis  the signal components of the series, stabilised for `noise`
[[nodiscard]] SeriesNoise levels_by_residuals(const Samples& samples, const SeriesNoise& noise,
                                              const Stabiliser& stabiliser, const Basis& basis,
                                              std::span<const VoxelState> states);

}  // namespace lull::series
