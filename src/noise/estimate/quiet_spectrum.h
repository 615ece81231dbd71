#pragma once
// The spectrum of the quietest parts of pictures, where noise shows best.

#include <array>
#include <span>

#include "noise/coefficient_table.h"
#include "noise/estimate/picture_blocks.h"

namespace lull {

struct QuietSpectrum {
  /// Mean squares of the coefficients of the quietest blocks, of the two quietest of six ranges of
  /// brightness. Of (0, 0), which is the picture's, 0.
  CoefficientTable table{};
  /// How much more the middle frequencies hold in the quietest fifth of blocks than in the quietest
  /// fiftieth, as a ratio of levels: noise is the same everywhere, texture is not. In that of the
  /// two ranges where it is less, and in the other.
  double unevenness = 1, greater_unevenness = 1;
  /// How little the measured blocks are like noise, at worst: the variance of their energies over
  /// that of Gaussian noise (1 is noise), the kurtosis of their coefficients (3), and how much more
  /// they hold along one axis than along the other, as a ratio of variances, at least 1.
  double dispersion = 1, kurtosis = 3, direction = 1;
  /// Level of the fine frequencies, v + u >= 7, of all blocks.
  double detail = 0;
  bool found = false;  // false: there are too few blocks to tell
};

/// `values`: coefficients() of the blocks.
[[nodiscard]] QuietSpectrum quiet_spectrum(std::span<const float> values,
                                           const PictureBlocks& blocks);

/// The level of a table at frequencies (v, u) with `first` <= v + u <= `last`, v + u > 0: the root
/// of its mean there.
[[nodiscard]] double band_level(const CoefficientTable& table, int first, int last);

}  // namespace lull
