#pragma once
// The spectrum of the flattest blocks of pictures, for noise estimation.

#include <array>
#include <span>

#include "noise/coefficient_table.h"
#include "noise/stills/picture_blocks.h"

namespace lull {

struct FlatBlockSpectrum {
  /// Mean squares of the DCT coefficients of the flattest blocks. The blocks are divided into six
  /// ranges of brightness. The mean squares are computed in each range. The table is the mean of
  /// two ranges: those with the smallest mean squares at low frequencies. Element (0, 0) is 0.
  CoefficientTable table{};
  /// Level at middle frequencies in the flattest 20 % of the blocks, relative to the level in the
  /// flattest 2 %: 1 for noise, higher for texture. The ratio is measured in each of the two
  /// ranges of brightness that `table` contains. `unevenness` is the smaller ratio, and
  /// `greater_unevenness` is the larger one.
  double unevenness = 1, greater_unevenness = 1;
  /// Indicators of texture (and their values for noise): relative variance of the block energies
  /// (1), kurtosis of the coefficients (3), and ratio of the variances along the two axes (1).
  double dispersion = 1, kurtosis = 3, direction = 1;
  /// Level of the fine DCT coefficients (v, u), v + u >= 7, over all blocks.
  double detail = 0;
  bool found = false;  // false: there are too few blocks
};

/// Measures the spectrum of the flattest blocks. `values` contains the coefficients of all blocks.
[[nodiscard]] FlatBlockSpectrum flat_block_spectrum(std::span<const float> values,
                                                    const PictureBlocks& blocks);

/// Returns the root mean square of the DCT coefficients (v, u) with `first` <= v + u <= `last`,
/// without (0, 0).
[[nodiscard]] double band_level(const CoefficientTable& table, int first, int last);

}  // namespace lull
