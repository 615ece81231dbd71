#pragma once
// The relation between two frames of a clip. Every backend computes the relation from integer
// counts over the samples of both frames, so that all backends get the same relation. The relation
// answers two questions:
//
// 1. Does a frame repeat the previous one (24 frames in a stream of 60, or copies instead of
//    dropped frames)? A repeated frame has the same noise, and filters would take this noise for
//    detail. FrameDifference contains the counts, Relation the decision. The decision depends only
//    on neighbouring frames, so that a part of a clip gives the same decisions as the complete
//    clip.
// 2. Does a frame show another scene? As in video encoders, PredictionCost compares the cost of
//    predicting blocks from the earlier frame, with motion search, to the cost of the blocks
//    without prediction.
//
// Samples are converted to 8 bits: integers with more bits lose the low bits; floats in
// 0..FrameFormat::white are scaled to 0..255 and rounded. The main plane is luma, or green for RGB.

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

/// Returns whether two samples differ although their 8-bit values may be equal. This happens only
/// with float samples outside 0..255, because 8-bit values are clamped. Such samples differ if
/// their difference exceeds one step of 8 bits. Outside the range that filters accept, they differ
/// if any bit differs, because such samples are preserved unchanged.
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

/// Side of the blocks that are compared, in samples of their plane. Blocks at the right and lower
/// border may have fewer samples.
inline constexpr int relation_block = 16;

/// Returns the mean squared difference, in units of 1/16, up to which two blocks count as equal:
/// (sigma / 4)^2, or 1/32 of the mean squared difference of blocks with independent noise. This
/// also works with a sigma that is five times too high. Blocks that encoders repeat as skipped
/// blocks differ much less.
constexpr std::uint32_t same_block_limit(float sigma) {
  const float limit = std::min(sigma, 255.0f) * std::min(sigma, 255.0f);  // 16 (sigma / 4)^2
  return static_cast<std::uint32_t>(limit);
}
/// Returns whether two blocks are equal except for small differences. `squares` is the sum of
/// squared differences over the `samples` samples of the block. The caller must check
/// differ_outside_8bit_range() separately.
constexpr bool same_block(std::uint32_t squares, std::uint32_t samples, std::uint32_t limit) {
  return 16 * squares <= limit * samples;
}
/// Returns whether the variance of a block is at least the variance of the noise. Blocks with less
/// variance (black or blown-out areas, letterboxes, synthetic graphics) do not show whether two
/// frames share noise.
constexpr bool is_textured_block(std::uint32_t sum, std::uint32_t sum_of_squares,
                                 std::uint32_t samples, std::uint32_t limit) {
  return 16 * (static_cast<std::uint64_t>(samples) * sum_of_squares -
               static_cast<std::uint64_t>(sum) * sum) >
         static_cast<std::uint64_t>(limit) * samples * samples;
}

/// Results of the comparison of a frame with the previous frame.
struct FrameDifference {
  bool identical = false;  // all samples are equal in all their bits
  /// Number of blocks of each plane that are not equal. In planes that are not filtered (sigma 0),
  /// blocks are not equal if any bit differs.
  std::array<std::uint32_t, 3> different{};
  std::uint32_t textured = 0;  // blocks of the main plane that are textured in the later frame
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

// The prediction of a frame uses a coarse main plane: the 8-bit, rounded means of 4x4 samples.
// Samples and means at the right and bottom that do not fill a 4x4 area or a block are ignored.
inline constexpr int coarse = 4;
inline constexpr int prediction_block = 8;  // side of a block in coarse samples
inline constexpr int prediction_reach = 8;  // radius of the motion search, in coarse samples

/// Cost of predicting a frame from a frame before it (`predicted`), and cost without prediction
/// (`own`), summed over the complete blocks of the frame. add_block() defines both costs.
struct PredictionCost {
  std::uint64_t predicted = 0, own = 0;
  std::uint32_t blocks = 0;
};

/// Returns 63 times the noise variance of coarse samples, sigma^2 / 16: the amount that noise adds
/// to the sum of squared differences of a block's 64 samples from their mean.
constexpr std::uint32_t coarse_noise(float sigma) {
  const float s = std::min(sigma, 255.0f);
  return static_cast<std::uint32_t>(63 * s * s / 16);
}

/// Returns the sum of squared differences of 64 values from their mean, rounded down. `sum` is the
/// sum of the values, and `squares` is the sum of their squares.
constexpr std::uint32_t about_mean(std::int32_t sum, std::uint32_t squares) {
  return (64 * squares - static_cast<std::uint32_t>(sum * sum)) / 64;
}

/// Adds a block to the costs. `own` is the sum of the squared differences of the block's samples
/// from their mean. `predicted` is the same sum for the difference between the block and the most
/// similar block of the earlier frame, within reach and inside the picture. Subtracting the means
/// prevents that flashes and fades raise the cost.
constexpr void add_block(PredictionCost& cost, std::uint32_t own, std::uint32_t predicted,
                         std::uint32_t noise) {
  const std::uint32_t content = own > noise ? own - noise : 0;
  const std::uint32_t change = predicted > 2 * noise ? predicted - 2 * noise : 0;
  cost.own += content;
  cost.predicted += std::min(content, change);
  ++cost.blocks;
}

/// Returns whether a frame belongs to another scene than the frame from which it was predicted. The
/// result is false for a frame with little more than noise, such as a black frame.
constexpr bool is_another_scene(const PredictionCost& cost, std::uint32_t noise, float scene_cut) {
  const auto per_mille = static_cast<std::uint64_t>(scene_cut * 1000 + 0.5f);
  if (per_mille == 0) return false;
  const std::uint64_t least = cost.blocks * static_cast<std::uint64_t>(noise / 4 + 64);
  return cost.own > least && cost.predicted * 1000 > cost.own * per_mille;
}

}  // namespace lull
