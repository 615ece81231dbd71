#pragma once
// Assumptions on the noise that cameras and codecs leave. They replace what cannot be measured in a
// picture.

#include <array>

#include "noise/stills/flat_block_spectrum.h"

namespace lull {

/// Coarse noise of luma: the noise measured in a picture, and the noise for which filters are
/// tuned. camera_noise.cpp explains why these differ.
struct CameraNoise {
  CoefficientTable measured{};
  CoefficientTable filtered{};
  /// Ratio of the noise variance of chroma that filters assume to the variance that chroma would
  /// have if the noise of red, green and blue were independent.
  double chroma = 1;
  /// Amount of fine detail, compared with pictures with coarse noise, 0..1. At 1, filters get only
  /// the measured noise.
  double sharpness = 0;
};
[[nodiscard]] CameraNoise camera_noise(const FlatBlockSpectrum& luma);

/// Returns the table of a plane whose noise has `gain` times the variance of luma, and whose
/// sampling is coarser by powers of two.
[[nodiscard]] CoefficientTable subsampled(const CoefficientTable& luma, int shift_x, int shift_y,
                                          double gain);

}  // namespace lull
