#pragma once
// Noise levels from the samples that the signal components do not explain.

#include <span>
#include <vector>

#include "series/basis.h"
#include "series/samples.h"
#include "series/series_noise.h"
#include "series/voxels.h"

namespace lull::series {

struct ResidualLevels {
  SeriesNoise noise;  // corrected
  /// For each volume of the basis: its residual level relative to its level before the correction;
  /// 0: the components explain the volume, or too few of its samples count.
  std::vector<double> ratios;
};

/// Corrects the level of each volume, and the map, by the residuals of the complete voxels. If all
/// volumes have one level, they keep one level. A volume without a ratio is corrected like all
/// volumes together, or keeps its level if it has one of its own. Samples of Rician noise count
/// where their signal is at least twice the level, because their variance is smaller below that.
/// @param basis  the signal components of the series, stabilised for `noise`
[[nodiscard]] ResidualLevels levels_by_residuals(const Samples& samples, const SeriesNoise& noise,
                                                 const Stabiliser& stabiliser, const Basis& basis,
                                                 std::span<const VoxelState> states);

/// Whether all volumes with noise have one level.
[[nodiscard]] bool have_one_level(const SeriesNoise& noise);

}  // namespace lull::series
