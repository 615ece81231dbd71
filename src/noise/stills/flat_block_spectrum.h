#pragma once
// The spectrum of the flattest blocks of pictures, in order to measure noise.

#include <array>
#include <span>

#include "noise/coefficient_table.h"
#include "noise/stills/picture_blocks.h"

namespace lull {

struct FlatBlockSpectrum {
  /// Mean squares of the coefficients of the flattest blocks, in the two flattest of six ranges of
  /// brightness. Coefficient (0, 0), which contains the picture, is set to 0.
  CoefficientTable table{};
  /// Ratio of the level at middle frequencies in the flattest fifth of the blocks to the level in
  /// the flattest fiftieth. Noise has the same level in these blocks, so a high ratio shows
  /// texture. `unevenness` and `greater_unevenness` are the smaller and the larger ratio of the two
  /// ranges of brightness.
  double unevenness = 1, greater_unevenness = 1;
  /// Properties of the measured blocks that increase with texture, as maxima over the two ranges of
  /// brightness. `dispersion` is the variance of the energies of blocks, in units of the variance
  /// for Gaussian noise (1 for noise). `kurtosis` is the kurtosis of the coefficients (3 for
  /// noise). `direction` is the larger variance along one axis, divided by the variance along the
  /// other axis (1 for noise).
  double dispersion = 1, kurtosis = 3, direction = 1;
  /// Level of the fine DCT coefficients (v, u) with v + u >= 7, over all blocks.
  double detail = 0;
  bool found = false;  // false: there are too few blocks
};

/// Measures the spectrum of the flattest blocks. `values` contains the coefficients of all blocks,
/// as the function coefficients() returns them.
[[nodiscard]] FlatBlockSpectrum flat_block_spectrum(std::span<const float> values,
                                                    const PictureBlocks& blocks);

/// Returns the root mean square of a table over the frequencies (v, u) with `first` <= v + u <=
/// `last` and v + u > 0.
[[nodiscard]] double band_level(const CoefficientTable& table, int first, int last);

}  // namespace lull
