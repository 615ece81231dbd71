#pragma once
// Assumptions about camera and codec noise that a single picture does not reveal.

#include <array>

#include "noise/stills/flat_block_spectrum.h"

namespace lull {

/// Luma noise of a camera picture, as measured (`measured`) and as assumed by filters (`filtered`).
/// camera_noise.cpp explains the difference.
struct CameraNoise {
  CoefficientTable measured{};
  CoefficientTable filtered{};
  /// Variance of the chroma noise that filters assume. The unit is the variance of chroma noise if
  /// the noise of R, G and B is independent.
  double chroma = 1;
  /// Amount of fine detail, from 0 (picture of a camera that denoises) to 1 (sharp picture).
  /// With 1, `filtered` equals `measured`.
  double sharpness = 0;
};
[[nodiscard]] CameraNoise camera_noise(const FlatBlockSpectrum& luma);

/// Returns the noise variances of the coefficients of a subsampled plane. Before subsampling, the
/// variances of this plane are `gain` times the variances of luma. `shift_x` and `shift_y` are the
/// binary logarithms of the subsampling factors.
[[nodiscard]] CoefficientTable subsampled(const CoefficientTable& luma, int shift_x, int shift_y,
                                          double gain);

}  // namespace lull
