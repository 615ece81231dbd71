#pragma once
// A check of every frame of a stream, in a fraction of a millisecond, which decides where the noise
// must be estimated again.

#include <cstdint>

#include "core/frame.h"
#include "core/plane.h"

namespace lull::tools {

/// Statistics of the luma plane, or of the green plane of RGB frames.
struct QuickCheck {
  /// Means of blocks of 16x16 samples, over every fourth row, in 8-bit levels.
  Plane<std::uint8_t> cells;
  /// Mean deviation of samples from the mean of their two neighbours in the row, over flat areas
  /// that are not constant, in 8-bit levels. White noise with the standard deviation sigma gives
  /// about 0.9 sigma. 0: the frame is constant.
  float flat_noise = 0;
};

/// Computes the statistics of `frame`, which must be in host memory.
[[nodiscard]] QuickCheck quick_check(const Frame& frame);

/// Returns whether no cut lies between the two frames.
[[nodiscard]] bool is_same_scene(const QuickCheck& a, const QuickCheck& b);
/// Returns whether one of two frames may repeat the other, as far as their statistics show.
[[nodiscard]] bool may_repeat(const QuickCheck& a, const QuickCheck& b);
/// Returns whether most blocks of the second frame are exact copies of displaced blocks of the
/// first frame, as in a scrolling title. Differences between such synthetic frames contain no
/// noise. The function compares luma, or green for RGB.
[[nodiscard]] bool is_moved_copy(const Frame& a, const Frame& b);
/// Returns whether two values of QuickCheck::flat_noise differ by more than a tenth, which
/// indicates different noise levels.
[[nodiscard]] bool may_differ_in_noise(float flat_noise_a, float flat_noise_b);
/// Returns whether the values of QuickCheck::flat_noise of two consecutive frames differ by more
/// than a fifth, which indicates different noise levels.
[[nodiscard]] bool noise_jumps(float flat_noise_a, float flat_noise_b);

}  // namespace lull::tools
