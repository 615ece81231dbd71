#pragma once
// What is assumed of the noise that cameras and codecs leave, where a picture does not show it.

#include <array>

#include "noise/estimate/quiet_spectrum.h"

namespace lull {

/// Coarse noise of luma: what is seen in a picture, and what filters are told (camera_noise.cpp
/// says why these differ).
struct CameraNoise {
  CoefficientTable seen{};
  CoefficientTable told{};
  /// Variance that filters are told of chroma, over what it is if red, green and blue share none.
  double chroma = 1;
  /// How much fine detail the picture has for one with coarse noise, 0..1: 1 where filters are told
  /// no more than what is seen.
  double sharpness = 0;
};
[[nodiscard]] CameraNoise camera_noise(const QuietSpectrum& luma);

/// The table of a plane with `gain` times the variance that is sampled more coarsely than luma, by
/// powers of two.
[[nodiscard]] CoefficientTable subsampled(const CoefficientTable& luma, int shift_x, int shift_y,
                                          double gain);

}  // namespace lull
