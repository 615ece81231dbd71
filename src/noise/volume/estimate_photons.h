#pragma once
// Estimates photon noise from the statistics of cubes. The variance of photon noise rises linearly
// with the mean of the samples.

#include <optional>
#include <vector>

#include "noise/volume/cube_statistics.h"
#include "noise/volume/photon_noise.h"

namespace lull {

/// The known parameters of photon noise, on the 0..255 scale. estimate_photons() estimates the
/// other parameters.
struct KnownPhotonNoise {
  std::optional<double> gain, offset, read;
  bool is_complete() const { return gain && offset && read; }
};

struct PhotonEstimate {
  PhotonNoise noise;  // on the 0..255 scale
  /// Standard deviation of the noise in the darkest, median and brightest flat cubes.
  double dark = 0, level = 0, bright = 0;
  double slope_error = 0;  // standard error of the gain, relative to the gain
  /// Root mean square of the deviations of the bins from the line, in standard errors.
  double misfit = 0;
};

/// Estimates the photon noise of a volume, or of planes over time, from flat cubes (flat_cubes.h).
/// The function fits a line to the variance as a function of the mean. The line has the slope
/// `gain` and the constant term `read`^2 - `gain` * `offset`. The third moment of the samples
/// determines `offset`.
/// @return nullopt if there are too few cubes, or if the variance does not rise with the mean
[[nodiscard]] std::optional<PhotonEstimate> estimate_photons(const CubeCollector& collector,
                                                             const KnownPhotonNoise& known);
/// Estimates the photon noise from all given cubes or squares.
[[nodiscard]] std::optional<PhotonEstimate> estimate_photons(
    const std::vector<CubeStatistics>& cubes, const KnownPhotonNoise& known);

}  // namespace lull
