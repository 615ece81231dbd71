#pragma once
// Decomposes a series into its signal components and its noise.

#include <cstdint>
#include <vector>

#include "series/basis.h"
#include "series/samples.h"
#include "series/series_noise.h"
#include "series/spectrum.h"
#include "series/voxels.h"

namespace lull::series {

struct FitOptions {
  std::vector<std::uint8_t> mask = {};  // one flag per voxel; empty: no mask
  /// The levels and the map are estimates, which the residuals may correct.
  bool refine = true;
  /// The states of the voxels, if they are known; empty: they follow from the samples.
  std::vector<VoxelState> states = {};
  /// Minimum number of components of the basis.
  int components = 0;
  /// All components are kept, for a filter that leaves a part of the noise.
  bool keep_all = false;
};

struct Fit {
  SeriesNoise noise;
  Basis basis;
  Spectrum spectrum;
  std::vector<double> eigenvalues;  // in descending order; 1 is the noise variance
  std::vector<VoxelState> states;
  /// Number of volumes that the components combine. The others are components of their own, because
  /// they have too little in common with these.
  int combined = 0;
};

/// Decomposes a series.
/// @param noise  levels of all volumes; at least 2 volumes must have noise
[[nodiscard]] Fit fit_series(const Samples& samples, const SeriesNoise& noise,
                             const FitOptions& options);

}  // namespace lull::series
