#pragma once
// What one frame of a clip is to another, decided from integer counts over its samples, so that
// every backend decides the same. Two questions:
//
// 1. Does a frame repeat the one before (24 frames in a stream of 60, frames that a recorder
//    dropped and doubled)? Then it carries the same noise, and candidates from it would bring the
//    noise back as detail. FrameDifference counts that, Relation says it. It depends on
//    neighbouring frames alone, so that parts of a clip give what the whole gives.
// 2. Does it show another scene? Measured as encoders do it: what it costs to predict blocks from
//    the earlier frame, with a search for motion, against what they cost by themselves.
//    PredictionCost holds both.
//
// Samples count as 8 bits here: integers of more bits lose the low ones, floats are rounded from
// 0..FrameFormat::white. The main plane is luma, and green of RGB.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "core/float_range.h"
#include "core/frame.h"

namespace lull {

constexpr int main_plane(bool rgb) { return rgb ? 1 : 0; }

struct ByteScale {
  int bits;      // of integers
  float factor;  // of floats
  constexpr explicit ByteScale(const FrameFormat& format)
      : bits(format.bits), factor(static_cast<float>(255 / format.full_scale())) {}
};
constexpr std::uint8_t to_byte(std::uint8_t v, ByteScale) { return v; }
constexpr std::uint8_t to_byte(std::uint16_t v, ByteScale scale) {
  return static_cast<std::uint8_t>(std::min(v >> (scale.bits - 8), 255));
}
constexpr std::uint8_t to_byte(float v, ByteScale scale) {  // what is not a number: 0
  return static_cast<std::uint8_t>(std::min(std::max(0.0f, v * scale.factor), 255.0f) + 0.5f);
}

/// Whether two samples differ though bytes do not tell, as all beyond an end of the scale are the
/// same: by more than a byte's step, or at all where filters do not see them and they come out as
/// they came. Only floats lie there.
constexpr bool differ_unseen(std::uint8_t, std::uint8_t, ByteScale) { return false; }
constexpr bool differ_unseen(std::uint16_t, std::uint16_t, ByteScale) { return false; }
constexpr bool differ_unseen(float a, float b, ByteScale scale) {
  if (std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b)) return false;
  const float p = a * scale.factor, q = b * scale.factor, d = (a - b) * scale.factor;
  if (!FloatGuard::is_seen(p) || !FloatGuard::is_seen(q)) return true;
  const bool bytes_tell = p >= 0 && p <= 255 && q >= 0 && q <= 255;
  return !bytes_tell && (d > 1 || d < -1);
}

// ---- repetition ----------------------------------------------------------------------------

/// Side of the blocks that are compared, in samples of their plane; those at the right and lower
/// border may be smaller.
inline constexpr int relation_block = 16;

/// Up to which mean squared difference, in units of 1/16, two blocks count as the same. With noise
/// of its own each, it would be 2 sigma^2, give or take a tenth. A 32nd of that, (sigma / 4)^2, is
/// far beyond what encoders add to a frame that they repeat with skipped blocks, and leaves room
/// for a sigma given five times too high.
constexpr std::uint32_t same_limit(float sigma) {
  const float limit = std::min(sigma, 255.0f) * std::min(sigma, 255.0f);  // 16 (sigma / 4)^2
  return static_cast<std::uint32_t>(limit);
}
/// `squares`: sum over the block's `samples` squared differences. None that differ unseen.
constexpr bool same_block(std::uint32_t squares, std::uint32_t samples, std::uint32_t limit) {
  return 16 * squares <= limit * samples;
}
/// Whether a block has the variance of noise at least: black and blown-out areas, letter boxes and
/// drawn pictures have not, and say nothing about whether noise is shared.
constexpr bool lively_block(std::uint32_t sum, std::uint32_t sum_of_squares, std::uint32_t samples,
                            std::uint32_t limit) {
  return 16 * (static_cast<std::uint64_t>(samples) * sum_of_squares -
               static_cast<std::uint64_t>(sum) * sum) >
         static_cast<std::uint64_t>(limit) * samples * samples;
}

/// Of a frame and the one before it.
struct FrameDifference {
  bool identical = false;  // all samples, in all their bits
  /// Blocks of each plane that are not the same. In planes with sigma 0, which pass through, blocks
  /// with any sample that differs in any of its bits.
  std::array<std::uint32_t, 3> different{};
  std::uint32_t lively = 0;  // blocks of the main plane that are lively in the later frame
  std::uint32_t shared = 0;  // of these, those that are the same
};

enum class Relation {
  fresh,      // noise of its own
  shares,     // in most blocks the noise of the frame before, but not in all
  repeats,    // the same in all blocks
  identical,  // bit by bit
};

constexpr Relation relation_of(const FrameDifference& d) {
  if (d.identical) return Relation::identical;
  if (d.different[0] == 0 && d.different[1] == 0 && d.different[2] == 0) return Relation::repeats;
  return 2 * d.shared > d.lively ? Relation::shares : Relation::fresh;
}

// ---- scenes --------------------------------------------------------------------------------

// Prediction works on the main plane made coarser: means of 4x4 samples in 8 bits, rounded; what is
// over at the right and below is left out, and so are blocks that are not whole.
inline constexpr int coarse = 4;
inline constexpr int prediction_block = 8;  // side, in coarse samples
inline constexpr int prediction_reach = 8;  // of the search for motion, in coarse samples

/// Sum over a frame's whole blocks; see add_block().
struct PredictionCost {
  std::uint64_t predicted = 0, own = 0;
  std::uint32_t blocks = 0;
};

/// 63 times the variance of the noise of coarse samples, sigma^2 / 16: what noise adds to a block's
/// sum of squared differences from their mean.
constexpr std::uint32_t coarse_noise(float sigma) {
  const float s = std::min(sigma, 255.0f);
  return static_cast<std::uint32_t>(63 * s * s / 16);
}

/// Sum of squared differences from the mean of the 64 numbers with these sums, rounded down.
constexpr std::uint32_t about_mean(std::int32_t sum, std::uint32_t squares) {
  return (64 * squares - static_cast<std::uint32_t>(sum * sum)) / 64;
}

/// Adds a block. `own`: the sum of its squared differences from its mean. `predicted`: the least of
/// those of the differences between it and the blocks of the earlier frame within reach, all of
/// them within the picture. Without the means, so that flashes and fades cost nothing.
constexpr void add_block(PredictionCost& cost, std::uint32_t own, std::uint32_t predicted,
                         std::uint32_t noise) {
  const std::uint32_t content = own > noise ? own - noise : 0;
  const std::uint32_t change = predicted > 2 * noise ? predicted - 2 * noise : 0;
  cost.own += content;
  cost.predicted += std::min(content, change);
  ++cost.blocks;
}

/// Whether the later frame belongs to another scene than the earlier one. Never, where it shows
/// little beyond noise: a black frame is no scene.
constexpr bool another_scene(const PredictionCost& cost, std::uint32_t noise, float scene_cut) {
  const auto per_mille = static_cast<std::uint64_t>(scene_cut * 1000 + 0.5f);
  if (per_mille == 0) return false;
  const std::uint64_t least = cost.blocks * static_cast<std::uint64_t>(noise / 4 + 64);
  return cost.own > least && cost.predicted * 1000 > cost.own * per_mille;
}

}  // namespace lull
