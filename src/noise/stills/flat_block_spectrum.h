#pragma once
// The spectrum of the flattest blocks of pictures, for noise estimation.

#include <array>
#include <span>

#include "noise/coefficient_table.h"
#include "noise/stills/picture_blocks.h"

namespace lull {

struct FlatBlockSpectrum {
  /// Mean squares of the DCT coefficients of the flattest blocks. The estimator divides the blocks
  /// into six ranges of brightness, and computes the mean squares in each range. The table is the
  /// mean of the two ranges with the smallest mean squares at low frequencies. Element (0, 0) is 0.
  CoefficientTable table{};
  /// Level at middle frequencies in the flattest 20 % of the blocks, divided by the level in the
  /// flattest 2 %. This ratio is 1 for noise, and higher for texture. The estimator measures the
  /// ratio in both ranges of brightness of `table`: `unevenness` is the smaller ratio, and
  /// `greater_unevenness` the larger.
  double unevenness = 1, greater_unevenness = 1;
  /// Statistics that indicate texture, with their values for noise: the relative variance of the
  /// block energies (1), the kurtosis of the coefficients (3), and the ratio of the variances along
  /// the two axes (1).
  double dispersion = 1, kurtosis = 3, direction = 1;
  /// Level of the fine DCT coefficients, (v, u) with v + u >= 7, over all blocks.
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
