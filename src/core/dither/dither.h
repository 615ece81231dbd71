#pragma once
// Dithering in the conversion of floats to integer samples, for more exact local means
// (docs/measurements/dither.md).

// Dithering rounds groups of four neighbouring samples in a row. Each group has one dithering
// threshold, which replaces the usual rounding threshold of 0.5. Dithering adds the rounding error
// of each sample to the next sample of the group, and so rounds the sum of the group only once.

// A dithered sample depends only on its position and its group of 4 samples. Therefore all
// backends, devices and parts of a clip give equal samples, and repeated frames remain equal.

#include <array>

namespace lull {

/// Kinds of dithering: rounding to nearest (ties upwards), a regular pattern of 8x8 samples, and
/// blue noise of 64x64 samples. All frames have the same pattern.
enum class Dither : unsigned char { none, ordered, noise };

/// Number of neighbouring samples in a row that share a dithering threshold. Groups start at
/// multiples of this number.
inline constexpr int dither_group = 4;
/// Size of the periodic dithering pattern: 16 groups of 4 samples, and 64 rows.
inline constexpr int dither_columns = 16, dither_rows = 64;
/// The dithering thresholds, row by row, in the range (0, 1). Each area of 8x8 samples has the
/// thresholds 1/32, 3/32, .., 31/32.
using DitherPattern = std::array<float, dither_columns * dither_rows>;

/// Returns the thresholds of a kind of dithering, or null for `none`. The table exists until the
/// process ends.
[[nodiscard]] const DitherPattern* dither_pattern(Dither dither);

/// Returns the index, in a DitherPattern, of the threshold for the sample at (x, y).
constexpr int dither_index(int x, int y) {
  return y % dither_rows * dither_columns + x / dither_group % dither_columns;
}

/// Rounds `v`, the next sample of a dithering group, to an integer, and adds the rounding error to
/// `carry`. Before the first sample of a group, the caller sets `carry` to the threshold of the
/// group. `v` is in [0, max_value]. Integers below 32768 do not change. Larger integers can change
/// by 1, because floats of this size have steps of 1/256.
constexpr int dithered(float v, int max_value, float& carry) {
  const float sum = v + carry;
  const int whole = static_cast<int>(sum);
  const int rounded = whole < max_value ? whole : max_value;
  carry = sum - static_cast<float>(rounded);
  return rounded;
}

}  // namespace lull
