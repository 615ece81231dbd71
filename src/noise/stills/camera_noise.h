#pragma once
// Assumptions about the noise of pictures from cameras and codecs. They replace properties of the
// noise that cannot be measured in a picture.

#include <array>

#include "noise/stills/flat_block_spectrum.h"

namespace lull {

/// Coarse noise of luma: the measured noise of a picture, and the noise that a session assumes.
/// camera_noise.cpp explains why the two differ.
struct CameraNoise {
  CoefficientTable measured{};
  CoefficientTable filtered{};
  /// A ratio of two noise variances of chroma. The numerator is the variance that a session
  /// assumes. The denominator is the variance for independent noise of red, green and blue.
  double chroma = 1;
  /// Difference in fine detail between the picture and camera pictures with coarse noise, as a
  /// measure from 0 to 1. If the measure is 1, filters get only the measured noise.
  double sharpness = 0;
};
[[nodiscard]] CameraNoise camera_noise(const FlatBlockSpectrum& luma);

/// Returns the table of coefficient variances of a subsampled plane. The plane is subsampled by
/// 2^shift_x and 2^shift_y, and its noise has `gain` times the variance of luma noise.
[[nodiscard]] CoefficientTable subsampled(const CoefficientTable& luma, int shift_x, int shift_y,
                                          double gain);

}  // namespace lull
