#pragma once
// Corrects noise levels by the residuals: the samples without the signal components.

#include <span>
#include <vector>

#include "series/basis.h"
#include "series/samples/samples.h"
#include "series/samples/series_noise.h"
#include "series/samples/voxels.h"

namespace lull::series {

struct ResidualLevels {
  SeriesNoise noise;  // corrected
  /// For each volume of Basis::volumes(), the ratio of the noise level estimated from the residuals
  /// to the previous noise level. The ratio is 0 if the volume has no residuals, or too few usable
  /// samples.
  std::vector<double> ratios;
};

/// Corrects the noise level of each volume, and the noise map, by the residuals of complete voxels
/// (VoxelState). Equal levels get a common correction. Otherwise, volumes without usable residuals
/// (ratio 0) keep their level. For Rician noise, samples with a signal below twice the noise level
/// do not count.
/// @param basis  the signal components
/// @param keep_ratios  if true, all levels get a common correction, even if they differ
[[nodiscard]] ResidualLevels levels_by_residuals(const Samples& samples, const SeriesNoise& noise,
                                                 const Stabiliser& stabiliser, const Basis& basis,
                                                 std::span<const VoxelState> states,
                                                 bool keep_ratios = false);

/// Returns whether all volumes with noise have equal noise levels.
[[nodiscard]] bool have_one_level(const SeriesNoise& noise);

}  // namespace lull::series
