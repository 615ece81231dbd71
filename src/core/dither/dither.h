#pragma once
// Dithering of floats that are converted to integer samples. A result depends only on the position
// of the sample and on the 4 neighbouring samples of its group. Therefore all backends, devices and
// parts of a clip give equal samples, and repeated frames remain equal.
//
// Rounding to nearest uses the threshold 0.5. Dithering uses thresholds that depend on the
// position. The first sample of a group is rounded with the threshold of the group, and its
// rounding error is added to the next sample of the group. As a result, the sum of a group is
// rounded only once, and the error of a single sample is as large as with ordered dithering. (With
// thresholds alone, the means of 8x8 samples of a denoised gradient have errors of 0.031 levels.
// With the addition of rounding errors, these means have errors of 0.018 levels;
// docs/measurements/dither.md.)

#include <array>

namespace lull {

/// Kinds of dithering. With `none`, samples are rounded to nearest, ties upwards. With `ordered`,
/// the thresholds form a regular pattern of 8x8 samples. With `noise`, the thresholds form an
/// irregular pattern of 64x64 samples whose neighbouring thresholds differ (blue noise). The
/// patterns do not change over time.
enum class Dither : unsigned char { none, ordered, noise };

/// Number of neighbouring samples of a row that share a threshold and form a group. The x
/// coordinate of the first sample of a group is a multiple of this number.
inline constexpr int dither_group = 4;
/// Size of the pattern of thresholds. A column of the pattern is a group of samples, and a row of
/// the pattern is a row of samples. The pattern repeats in both directions.
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
/// group, the caller sets `carry` to the threshold of the group. Each call updates `carry`. The
/// function does not change integers below 32768. Larger integers can change by 1, because floats
/// have steps of 1/256 in this range.
constexpr int dithered(float v, int max_value, float& carry) {
  const float sum = v + carry;
  const int whole = static_cast<int>(sum);
  const int rounded = whole < max_value ? whole : max_value;
  carry = sum - static_cast<float>(rounded);
  return rounded;
}

}  // namespace lull
