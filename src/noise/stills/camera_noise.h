#pragma once
// Assumptions about the noise of cameras and codecs, for properties that cannot be measured in a
// picture.

#include <array>

#include "noise/stills/flat_block_spectrum.h"

namespace lull {

/// Coarse noise of luma: `measured` in a picture, and `filtered`, the noise that filters assume.
/// camera_noise.cpp explains the difference.
struct CameraNoise {
  CoefficientTable measured{};
  CoefficientTable filtered{};
  /// Variance of the chroma noise that filters assume, in units of the variance for independent
  /// noise in red, green and blue.
  double chroma = 1;
  /// Amount of fine detail in the picture, from 0 (as in camera pictures with coarse noise) to 1.
  /// At 1, filters get only the measured noise.
  double sharpness = 0;
};
[[nodiscard]] CameraNoise camera_noise(const FlatBlockSpectrum& luma);

/// Returns the coefficient variances of the noise of a plane that is subsampled by 2^shift_x and
/// 2^shift_y. The noise of the plane has `gain` times the variance of luma noise.
[[nodiscard]] CoefficientTable subsampled(const CoefficientTable& luma, int shift_x, int shift_y,
                                          double gain);

}  // namespace lull
