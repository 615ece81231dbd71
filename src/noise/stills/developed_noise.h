#pragma once
// The noise of photographs developed from raw data without denoising, with a noise curve for each
// channel.

#include <array>
#include <span>

#include "noise/noise_model.h"
#include "noise/stills/demosaiced_noise.h"
#include "noise/stills/picture_blocks.h"

namespace lull {

struct DevelopedNoise {
  Demosaicing found = Demosaicing::none;  // if none, the other members have no meaning
  /// The noise that filters remove. With noise curves, the model describes stabilised samples.
  NoiseModel noise;
  /// Noise levels of R, G and B: root mean squares over the samples of the pictures.
  std::array<float, 3> level{};
  float coarse = 0;      // noise level of means of 8x8 samples of Y
  float confidence = 1;  // DemosaicedNoise::agreement
};

/// Detects and measures the noise of demosaiced pictures.
/// @param rgb  the planes R, G and B
/// @param opponents  the planes Y, U and V of the same pictures
/// @param max_blocks  maximum number of measured blocks
/// @param rounding  variance of the rounding error of samples of U and V
[[nodiscard]] DevelopedNoise developed_noise(std::span<const PlaneStack> rgb,
                                             const std::array<PlaneStack, 3>& opponents,
                                             std::size_t max_blocks, double rounding);

}  // namespace lull
