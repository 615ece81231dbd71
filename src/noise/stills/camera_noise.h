#pragma once
// Assumptions about the noise of pictures from cameras and codecs, for properties that cannot be
// measured in a picture.

#include <array>

#include "noise/stills/flat_block_spectrum.h"

namespace lull {

/// Coarse noise of luma: the measured noise of a picture, and the noise that filters assume.
/// camera_noise.cpp explains why they differ.
struct CameraNoise {
  CoefficientTable measured{};
  CoefficientTable filtered{};
  /// Variance of chroma noise that filters assume, divided by its variance for independent noise of
  /// red, green and blue.
  double chroma = 1;
  /// How much more fine detail the picture has than camera pictures with coarse noise, 0..1. At 1,
  /// filters get only the measured noise.
  double sharpness = 0;
};
[[nodiscard]] CameraNoise camera_noise(const FlatBlockSpectrum& luma);

/// Returns the coefficient variances of a plane that is subsampled by 2^shift_x and 2^shift_y, and
/// whose noise has `gain` times the variance of luma noise.
[[nodiscard]] CoefficientTable subsampled(const CoefficientTable& luma, int shift_x, int shift_y,
                                          double gain);

}  // namespace lull
