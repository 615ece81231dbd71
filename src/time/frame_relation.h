#pragma once
// Decides from integer counts of samples and blocks whether a frame repeats the previous frame, and
// whether two frames belong to the same scene.

// A repeated frame has the same noise as the previous frame, so filters would mistake the noise for
// detail. Examples: 24 fps content in a 60 fps stream, and dropped frames.

// The decision whether a frame repeats the previous frame (Relation) depends only on neighbouring
// frames. Sessions for different parts of a clip therefore make the same decision.

// lull detects scene cuts by the method of video encoders: it compares the cost of blocks with and
// without motion-compensated prediction from the earlier frame (PredictionCost).

// Comparisons use 8-bit samples: the high bits of integers, and floats in 0..FrameFormat::white
// scaled to 0..255. The main plane of a frame is the luma plane, or the green plane of RGB.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "core/float_range.h"
#include "core/frame.h"

namespace lull {

constexpr int main_plane(bool rgb) { return rgb ? 1 : 0; }

struct EightBitScale {
  int bits;      // for integers
  float factor;  // for floats
  constexpr explicit EightBitScale(const FrameFormat& format)
      : bits(format.bits), factor(static_cast<float>(255 / format.full_scale())) {}
};
constexpr std::uint8_t to_byte(std::uint8_t v, EightBitScale) { return v; }
constexpr std::uint8_t to_byte(std::uint16_t v, EightBitScale scale) {
  return static_cast<std::uint8_t>(std::min(v >> (scale.bits - 8), 255));
}
constexpr std::uint8_t to_byte(float v, EightBitScale scale) {  // NaN gives 0
  return static_cast<std::uint8_t>(std::min(std::max(0.0f, v * scale.factor), 255.0f) + 0.5f);
}

/// Returns whether two samples differ in a way that the comparison in 8 bits does not show, because
/// the conversion clamps samples to 0..255. The result is false if both samples are within 0..255.
/// Otherwise, the samples differ if their difference is more than 1. If a sample is also outside
/// the filter range (core/float_range.h), the samples differ if any of their bits differ.
constexpr bool differ_outside_8bit_range(std::uint8_t, std::uint8_t, EightBitScale) {
  return false;
}
constexpr bool differ_outside_8bit_range(std::uint16_t, std::uint16_t, EightBitScale) {
  return false;
}
constexpr bool differ_outside_8bit_range(float a, float b, EightBitScale scale) {
  if (std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b)) return false;
  const float p = a * scale.factor, q = b * scale.factor, d = (a - b) * scale.factor;
  if (!FloatGuard::is_in_filter_range(p) || !FloatGuard::is_in_filter_range(q)) return true;
  const bool both_in_8bit_range = p >= 0 && p <= 255 && q >= 0 && q <= 255;
  return !both_in_8bit_range && (d > 1 || d < -1);
}

// ---- repeated frames -----------------------------------------------------------------------

/// Side of the blocks for the comparison of two frames, in samples of their plane. Blocks at the
/// right and bottom border may have fewer samples.
inline constexpr int relation_block = 16;

/// Returns the maximum mean squared difference of equal blocks, (sigma / 4)^2, in units of 1/16 of
/// a squared 8-bit level. Independent noise causes 32 times this difference, so the comparison
/// tolerates a sigma that is five times too high.
constexpr std::uint32_t same_block_limit(float sigma) {
  const float limit = std::min(sigma, 255.0f) * std::min(sigma, 255.0f);  // 16 (sigma / 4)^2
  return static_cast<std::uint32_t>(limit);
}
/// Returns whether two blocks count as equal. `squares` is the sum of the squared differences of
/// their samples, and `samples` is the number of samples in a block. The caller must also check
/// differ_outside_8bit_range().
constexpr bool same_block(std::uint32_t squares, std::uint32_t samples, std::uint32_t limit) {
  return 16 * squares <= limit * samples;
}
/// Returns whether the variance of a block exceeds (sigma / 4)^2. Flatter blocks (black,
/// overexposed, graphics) contain no noise, so they do not reveal whether two frames share noise.
/// `limit` is the result of same_block_limit().
constexpr bool is_textured_block(std::uint32_t sum, std::uint32_t sum_of_squares,
                                 std::uint32_t samples, std::uint32_t limit) {
  return 16 * (static_cast<std::uint64_t>(samples) * sum_of_squares -
               static_cast<std::uint64_t>(sum) * sum) >
         static_cast<std::uint64_t>(limit) * samples * samples;
}

/// Results of the comparison of a frame with the previous frame.
struct FrameDifference {
  bool identical = false;  // all samples are equal in all their bits
  /// Number of different blocks in each plane. For unfiltered planes (sigma 0), any number above 0
  /// means that at least one bit differs.
  std::array<std::uint32_t, 3> different{};
  std::uint32_t textured = 0;  // luma (or green) blocks that are textured in the later frame
  std::uint32_t shared = 0;    // textured blocks that are equal in both frames
};

enum class Relation {
  independent,     // the noise differs from that of the previous frame
  partial_repeat,  // most blocks have the noise of the previous frame, but not all
  repeats,         // all blocks have the noise of the previous frame
  identical,       // all samples are equal bit for bit
};

constexpr Relation relation_of(const FrameDifference& d) {
  if (d.identical) return Relation::identical;
  if (d.different[0] == 0 && d.different[1] == 0 && d.different[2] == 0) return Relation::repeats;
  return 2 * d.shared > d.textured ? Relation::partial_repeat : Relation::independent;
}

// ---- scenes --------------------------------------------------------------------------------

// Prediction uses the luma (or green) plane, downsampled to 8-bit means of 4x4 samples. At the
// right and bottom border, the cost omits means of fewer than 4x4 samples, and incomplete blocks.
inline constexpr int coarse = 4;
inline constexpr int prediction_block = 8;  // side of a block in downsampled samples
inline constexpr int prediction_reach = 8;  // radius of the motion search, in downsampled samples

/// Cost of predicting a frame from an earlier frame (`predicted`), and cost without prediction
/// (`own`), as sums of add_block() over all complete blocks.
struct PredictionCost {
  std::uint64_t predicted = 0, own = 0;
  std::uint32_t blocks = 0;
};

/// Returns the contribution of noise to the sum of squared differences of the 64 samples of a
/// downsampled block from their mean. The noise variance of a downsampled sample, a mean of 4x4
/// samples, is sigma^2 / 16.
constexpr std::uint32_t coarse_noise(float sigma) {
  const float s = std::min(sigma, 255.0f);
  return static_cast<std::uint32_t>(63 * s * s / 16);
}

/// Returns the sum of squared differences of 64 values from their mean, rounded down. `sum` is the
/// sum of the values, and `squares` the sum of their squares.
constexpr std::uint32_t about_mean(std::int32_t sum, std::uint32_t squares) {
  return (64 * squares - static_cast<std::uint32_t>(sum * sum)) / 64;
}

/// Adds a block to the costs. `own` is the sum of the squared differences of the samples from their
/// mean. `predicted` is the same sum for the samples of the prediction residual. Because the sums
/// ignore the mean, a flash or a fade has a low cost.
constexpr void add_block(PredictionCost& cost, std::uint32_t own, std::uint32_t predicted,
                         std::uint32_t noise) {
  const std::uint32_t content = own > noise ? own - noise : 0;
  const std::uint32_t change = predicted > 2 * noise ? predicted - 2 * noise : 0;
  cost.own += content;
  cost.predicted += std::min(content, change);
  ++cost.blocks;
}

/// Returns true if a frame and the earlier frame that predicts it belong to different scenes.
/// Returns false for frames that contain little more than noise, such as black frames.
constexpr bool is_another_scene(const PredictionCost& cost, std::uint32_t noise, float scene_cut) {
  const auto per_mille = static_cast<std::uint64_t>(scene_cut * 1000 + 0.5f);
  if (per_mille == 0) return false;
  const std::uint64_t least = cost.blocks * static_cast<std::uint64_t>(noise / 4 + 64);
  return cost.own > least && cost.predicted * 1000 > cost.own * per_mille;
}

}  // namespace lull
