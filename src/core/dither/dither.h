#pragma once
// Dithering of floats that are converted to integer samples. Dithering makes local means more exact
// (docs/measurements/dither.md).

// Dithering replaces the rounding threshold 0.5 by thresholds that depend on the position. Each
// group of 4 neighbouring samples has one threshold. The first sample of a group is rounded with
// the threshold. Each rounding error is added to the next sample of the group, so the sum of the
// group is rounded only once.

// A dithered sample depends only on its position and on its group of 4 samples. Therefore all
// backends, devices and parts of a clip give equal samples, and repeated frames remain equal.

#include <array>

namespace lull {

/// Kinds of dithering. `none` rounds to nearest, ties upwards. `ordered` uses a regular pattern of
/// 8x8 samples. `noise` uses blue noise, an irregular pattern of 64x64 samples. All frames have the
/// same pattern.
enum class Dither : unsigned char { none, ordered, noise };

/// Number of neighbouring samples in a row that share one dithering threshold. The x coordinate of
/// the first sample of a group is a multiple of this number.
inline constexpr int dither_group = 4;
/// Size of the dithering pattern: 16 groups of 4 samples, and 64 rows. The pattern repeats in both
/// directions.
inline constexpr int dither_columns = 16, dither_rows = 64;
/// The dithering thresholds, row by row, in the range (0, 1). Each area of 8x8 samples of a picture
/// has the thresholds 1/32, 3/32, .., 31/32.
using DitherPattern = std::array<float, dither_columns * dither_rows>;

/// Returns the thresholds of a kind of dithering, or null for `none`. The table exists until the
/// process ends.
[[nodiscard]] const DitherPattern* dither_pattern(Dither dither);

/// Returns the index, in a DitherPattern, of the threshold for the sample at (x, y).
constexpr int dither_index(int x, int y) {
  return y % dither_rows * dither_columns + x / dither_group % dither_columns;
}

/// Rounds the next sample `v` of a dithering group, a value in [0, max_value]. Before the first
/// sample of a group, the caller sets `carry` to the threshold of the group. Each call sets `carry`
/// for the next sample. An integer below 32768 does not change. A larger integer can change by 1,
/// because floats of this size have steps of 1/256.
constexpr int dithered(float v, int max_value, float& carry) {
  const float sum = v + carry;
  const int whole = static_cast<int>(sum);
  const int rounded = whole < max_value ? whole : max_value;
  carry = sum - static_cast<float>(rounded);
  return rounded;
}

}  // namespace lull
