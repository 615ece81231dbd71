#pragma once
// Noise of photographs developed from raw data without denoising: sensor noise after demosaicing,
// white balance, colour matrix and tone curve.

#include <array>
#include <span>

#include "noise/coefficient_table.h"
#include "noise/stills/flat_blocks.h"
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

/// Returns whether the DCT coefficient k = 8 v + u has a frequency v + u of at least 3. Shading has
/// little energy at these frequencies.
constexpr bool is_fine(int k) { return k / 8 + k % 8 >= 3; }
/// Returns the sum of the variances of the fine coefficients (is_fine()).
[[nodiscard]] double fine_energy(const CoefficientTable& table);

/// Selects the blocks in which demosaiced noise is measured: blocks without clipped samples, or
/// also blocks with clipped samples if less than 10 % of the blocks are free of them. Otherwise,
/// pictures with large black areas would be measured only in their brightest parts.
[[nodiscard]] UsableBlocks usable_developed_blocks(const PictureBlocks& blocks);

/// Detects and measures the noise of demosaiced pictures. demosaiced_noise.cpp explains the method.
/// @param rounding  variance of the rounding error of samples of U and V
[[nodiscard]] DemosaicedNoise demosaiced_noise(const OpponentValues& values,
                                               const PictureBlocks& blocks,
                                               const UsableBlocks& usable, double rounding);

/// Measures the noise of a picture in which demosaiced_noise() has found demosaiced noise, after
/// variance stabilisation of R, G and B. The noise then has the same level at all values, so the
/// function uses the flattest blocks of the complete picture. `found` is none if too few blocks are
/// usable.
/// @param values  coefficients of the blocks of Y, U and V of the stabilised picture
[[nodiscard]] DemosaicedNoise stabilised_noise(const OpponentValues& values,
                                               const PictureBlocks& blocks,
                                               const UsableBlocks& usable);

}  // namespace lull
