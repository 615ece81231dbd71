#pragma once
// Checks every frame of a stream in a fraction of a millisecond. The results trigger new noise
// estimates.

#include <cstdint>

#include "core/frame.h"
#include "core/plane.h"

namespace lull::tools {

/// Statistics of the luma plane, or of the green plane of RGB frames.
struct QuickCheck {
  /// Means of blocks of 16x16 samples in 8-bit levels, from every fourth row.
  Plane<std::uint8_t> cells;
  /// Mean absolute difference between a sample and the mean of its two neighbours in the row, in
  /// 8-bit levels, in flat areas that are not constant. For white noise, the value is about 0.9
  /// standard deviations. For a constant frame, the value is 0.
  float flat_noise = 0;
};

/// Computes the statistics of `frame`, which must be in host memory.
[[nodiscard]] QuickCheck quick_check(const Frame& frame);

/// Returns whether the two frames belong to the same shot, without a cut between them.
[[nodiscard]] bool is_same_scene(const QuickCheck& a, const QuickCheck& b);
/// Returns whether the statistics are equal, so that one frame may repeat the other.
[[nodiscard]] bool may_repeat(const QuickCheck& a, const QuickCheck& b);
/// Returns whether most luma (or green) blocks of the second frame are exact copies of displaced
/// blocks of the first frame. Such copies occur in motion without noise, for example in scrolling
/// titles.
[[nodiscard]] bool is_moved_copy(const Frame& a, const Frame& b);
/// Returns whether two values of QuickCheck::flat_noise differ by more than a tenth, a sign of
/// different noise levels.
[[nodiscard]] bool may_differ_in_noise(float flat_noise_a, float flat_noise_b);
/// Returns whether QuickCheck::flat_noise of two consecutive frames differs by more than a fifth, a
/// sign of different noise levels.
[[nodiscard]] bool noise_jumps(float flat_noise_a, float flat_noise_b);

}  // namespace lull::tools
