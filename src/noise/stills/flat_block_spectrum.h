#pragma once
// The spectrum of the flattest blocks of pictures, for noise estimation.

#include <array>
#include <span>

#include "noise/coefficient_table.h"
#include "noise/stills/picture_blocks.h"

namespace lull {

struct FlatBlockSpectrum {
  /// Mean squares of the DCT coefficients of the flattest blocks. The blocks are divided into six
  /// ranges of brightness, and the mean squares are computed in each range. The table is the mean
  /// of the two ranges with the smallest mean squares at low frequencies. Element (0, 0) is 0.
  CoefficientTable table{};
  /// Ratio of two levels at middle frequencies: the level in the flattest 20 % of the blocks,
  /// divided by the level in the flattest 2 %. For noise, the ratio is 1; texture has a higher
  /// ratio. The ratio is measured in the two ranges of brightness of `table`. `unevenness` is the
  /// smaller of the two ratios, and `greater_unevenness` the larger.
  double unevenness = 1, greater_unevenness = 1;
  /// Statistics that indicate texture: the relative variance of the block energies, the kurtosis of
  /// the coefficients, and the ratio of the variances along the two axes. For noise, the values are
  /// 1, 3 and 1.
  double dispersion = 1, kurtosis = 3, direction = 1;
  /// Level of the fine DCT coefficients (v, u), which have v + u >= 7, over all blocks.
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
