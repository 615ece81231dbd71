#pragma once
// Decomposes a series of volumes into signal components and noise.

#include <cstdint>
#include <vector>

#include "series/basis.h"
#include "series/samples/samples.h"
#include "series/samples/series_noise.h"
#include "series/samples/voxels.h"
#include "series/spectrum/spectrum.h"

namespace lull::series {

struct FitOptions {
  std::vector<std::uint8_t> mask = {};  // one flag per voxel; empty: no mask
  /// If true, the given noise levels and the noise map are estimates, which fit_series() corrects
  /// by the residuals: the samples without the signal components (levels.h).
  bool refine = true;
  /// The states of the voxels (voxels.h). If empty, fit_series() determines the states from the
  /// samples.
  std::vector<VoxelState> states = {};
  /// Minimum number of components of the basis.
  int components = 0;
  /// Index of the first volume of the second group, or 0 for a single group. Groups have unrelated
  /// signals (real and imaginary parts), equal size, and equal noise in corresponding volumes.
  int second_group = 0;
  /// If true, the basis contains all components. Filters that remove only a part of the noise need
  /// all components.
  bool keep_all = false;
};

struct Fit {
  SeriesNoise noise;
  Basis basis;
  Spectrum spectrum;
  std::vector<double> eigenvalues;  // in the order of decomposition.h, in units of noise variance
  std::vector<VoxelState> states;
  /// The voxels of the object (select_voxels()), one flag per voxel. Empty if the series has fewer
  /// than two usable voxels.
  std::vector<bool> object;
  /// Number of volumes that the principal components combine. For each other volume, the basis
  /// contains a separate component that consists of this volume alone.
  int combined = 0;
  /// The noise of the volumes if they are filtered separately.
  SeriesNoise separate;
  /// The combined volumes for which a separate filter may be better. Only the results of both
  /// filters can show which filter is better (filter/filter_risk.h).
  std::vector<int> doubtful;
};

/// Decomposes a series into signal components and noise.
/// @param noise  noise levels of all volumes; at least 2 of the volumes must have noise
[[nodiscard]] Fit fit_series(const Samples& samples, const SeriesNoise& noise,
                             const FitOptions& options);

/// Computes the components of `fit` again. The components no longer combine the volumes `removed`,
/// which are filtered separately with the noise `fit.separate`.
/// @param removed  in ascending order
/// @param options  the options of `fit`
[[nodiscard]] Fit without_volumes(const Samples& samples, Fit fit, const std::vector<int>& removed,
                                  const FitOptions& options);

}  // namespace lull::series
