#pragma once
// Decomposes a series of volumes into signal components and noise.

#include <cstdint>
#include <vector>

#include "series/basis.h"
#include "series/samples.h"
#include "series/series_noise.h"
#include "series/spectrum/spectrum.h"
#include "series/voxels.h"

namespace lull::series {

struct FitOptions {
  std::vector<std::uint8_t> mask = {};  // one flag per voxel; empty: no mask
  /// Whether the noise levels and the noise map are estimates, which the residuals may correct.
  bool refine = true;
  /// The states of the voxels (voxels.h); empty: they are determined from the samples.
  std::vector<VoxelState> states = {};
  /// Minimum number of components of the basis.
  int components = 0;
  /// Index of the first volume of the second group of volumes; 0: there is only one group. The
  /// signals of the groups are unrelated (decomposition.h), for example those of the real and the
  /// imaginary parts. Both groups have the same number of volumes, and volumes with the same index
  /// within their group have equal noise.
  int second_group = 0;
  /// Whether the basis contains all components, as is necessary if the filter does not remove all
  /// of the noise.
  bool keep_all = false;
};

struct Fit {
  SeriesNoise noise;
  Basis basis;
  Spectrum spectrum;
  std::vector<double> eigenvalues;  // in the order of decomposition.h, in units of noise variance
  std::vector<VoxelState> states;
  /// Number of volumes that the components combine. A volume that has too little in common with
  /// them is a component by itself.
  int combined = 0;
};

/// Decomposes a series.
/// @param noise  noise levels of all volumes; at least 2 of the volumes must have noise
[[nodiscard]] Fit fit_series(const Samples& samples, const SeriesNoise& noise,
                             const FitOptions& options);

}  // namespace lull::series
