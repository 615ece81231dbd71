#pragma once
// Noise of photographs developed from raw data without denoising: sensor noise after demosaicing,
// white balance, colour matrix and tone curve.

#include <array>
#include <span>

#include "noise/coefficient_table.h"
#include "noise/stills/picture_blocks.h"

namespace lull {

/// Whether the noise of a picture is typical of demosaicing.
enum class Demosaicing {
  none,
  weak,  ///< chroma is that of a demosaiced picture, but hardly above that of clean photographs
  clear
};

struct DemosaicedNoise {
  Demosaicing found = Demosaicing::none;
  /// Noise variances of the coefficients of Y, U and V, averaged over brightness.
  std::array<CoefficientTable, 3> tables{};
  /// Noise levels of R, G and B.
  std::array<float, 3> level{};
  /// Share of noise in the chroma variance of flat blocks, 0..1. The rest is texture.
  double agreement = 1;
};

/// Coefficients of the blocks of Y, U and V (see coefficients()).
using OpponentValues = std::array<std::span<const float>, 3>;

/// Detects and measures the noise of demosaiced pictures. demosaiced_noise.cpp explains the method.
/// @param rounding  variance of the rounding error of samples of U and V
[[nodiscard]] DemosaicedNoise demosaiced_noise(const OpponentValues& values,
                                               const PictureBlocks& blocks, double rounding);

}  // namespace lull
