#pragma once
// Dithering of floats that are converted to integer samples. A result depends only on the position
// of the sample and on its group of 4 neighbouring samples. Therefore all backends, devices and
// parts of a clip give equal samples, and repeated frames remain equal.
//
// Dithering replaces the rounding threshold 0.5 by thresholds that depend on the position. The
// first sample of a group is rounded with the group's threshold. Its rounding error is added to the
// next sample of the group, and so on, so that the sum of a group is rounded only once. This makes
// local means more exact (docs/measurements/dither.md).

#include <array>

namespace lull {

/// Kinds of dithering: `none` rounds to nearest, ties upwards; `ordered` uses a regular pattern of
/// 8x8 samples; `noise` uses blue noise, an irregular pattern of 64x64 samples. The patterns are
/// the same in all frames.
enum class Dither : unsigned char { none, ordered, noise };

/// Number of neighbouring samples of a row that share a threshold and form a group. The x
/// coordinate of the first sample of a group is a multiple of this number.
inline constexpr int dither_group = 4;
/// Size of the pattern of thresholds, in groups of samples and in rows of samples. The pattern
/// repeats in both directions.
inline constexpr int dither_columns = 16, dither_rows = 64;
/// Thresholds in (0, 1), row by row. Each tile of 8x8 samples has the thresholds 1/32, 3/32, ..,
/// 31/32.
using DitherPattern = std::array<float, dither_columns * dither_rows>;

/// Returns the thresholds of `dither`, or null for `none`. The table exists until the process ends.
[[nodiscard]] const DitherPattern* dither_pattern(Dither dither);

/// Returns the index of the threshold of the group that contains the sample at (x, y).
constexpr int dither_index(int x, int y) {
  return y % dither_rows * dither_columns + x / dither_group % dither_columns;
}

/// Rounds the next sample of a group, a value in [0, max_value]. Before the first sample of a
/// group, the caller sets `carry` to the threshold of the group. Each call updates `carry`. If `v`
/// is an integer below 32768, the result is `v`. Larger integers can change by 1, because floats
/// have steps of 1/256 in this range.
constexpr int dithered(float v, int max_value, float& carry) {
  const float sum = v + carry;
  const int whole = static_cast<int>(sum);
  const int rounded = whole < max_value ? whole : max_value;
  carry = sum - static_cast<float>(rounded);
  return rounded;
}

}  // namespace lull
