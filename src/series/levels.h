#pragma once
// Corrects noise levels by the residuals, which are the samples without the signal components.

#include <span>
#include <vector>

#include "series/basis.h"
#include "series/samples.h"
#include "series/series_noise.h"
#include "series/voxels.h"

namespace lull::series {

struct ResidualLevels {
  SeriesNoise noise;  // corrected
  /// For each volume of the basis, the noise level of its residuals, divided by the level before
  /// the correction. The ratio is 0 if the components explain the volume completely, or if too few
  /// samples of the volume are usable.
  std::vector<double> ratios;
};

/// Corrects the noise level of each volume, and the noise map, by the residuals of the complete
/// voxels (voxels.h). If all levels are equal, the residuals of all volumes determine a common
/// correction. If levels differ, the residuals of a volume correct its level. The level of a volume
/// without usable residuals (a ratio of 0) does not change.
///
/// For Rician noise, the function uses only samples whose signal is at least twice the level. The
/// noise of weaker signals has a smaller variance.
/// @param basis  the signal components of the series, computed from samples stabilised for `noise`
[[nodiscard]] ResidualLevels levels_by_residuals(const Samples& samples, const SeriesNoise& noise,
                                                 const Stabiliser& stabiliser, const Basis& basis,
                                                 std::span<const VoxelState> states);

/// Returns whether all volumes with noise have equal noise levels.
[[nodiscard]] bool have_one_level(const SeriesNoise& noise);

}  // namespace lull::series
