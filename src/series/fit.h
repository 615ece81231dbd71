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
  /// Minimum number of components.
  int components = 1;
  /// All components are kept, for a filter that leaves a part of the noise.
  bool keep_all = false;
};

struct Fit {
  SeriesNoise noise;
  Basis basis;
  Spectrum spectrum;
  std::vector<double> eigenvalues;  // in descending order; 1 is the noise variance
  std::vector<VoxelState> states;
  /// How much more compact the components are than the volumes: the ratio of the geometric mean of
  /// the variances of the volumes to that of the components, in dB. It is 0 for volumes that have
  /// nothing in common.
  double coding_gain = 0;
};

/// Decomposes a series.
/// @param noise  levels of all volumes, at least 2 of which have noise
[[nodiscard]] Fit fit_series(const Samples& samples, const SeriesNoise& noise,
                             const FitOptions& options);

}  // namespace lull::series
