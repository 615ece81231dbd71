#pragma once
// Corrects noise levels by the residuals: the samples without the signal components.

#include <span>
#include <vector>

#include "series/basis.h"
#include "series/samples.h"
#include "series/series_noise.h"
#include "series/voxels.h"

namespace lull::series {

struct ResidualLevels {
  SeriesNoise noise;  // corrected
  /// Noise level of the residuals of each volume of the basis, relative to the level before the
  /// correction. 0: the components explain the volume completely, or too few of its samples are
  /// usable.
  std::vector<double> ratios;
};

/// Corrects the noise level of each volume, and the noise map, by the residuals of the complete
/// voxels (voxels.h). Equal levels are corrected by the residuals of all volumes together and
/// remain equal. Different levels are corrected separately; the level of a volume without usable
/// residuals (a ratio of 0) does not change. Samples with Rician noise are used only where their
/// signal is at least twice the level, because the noise of weaker signals has a smaller variance.
/// @param basis  the signal components of the series, computed from samples stabilised for `noise`
[[nodiscard]] ResidualLevels levels_by_residuals(const Samples& samples, const SeriesNoise& noise,
                                                 const Stabiliser& stabiliser, const Basis& basis,
                                                 std::span<const VoxelState> states);

/// Returns whether all volumes with noise have equal noise levels.
[[nodiscard]] bool have_one_level(const SeriesNoise& noise);

}  // namespace lull::series
