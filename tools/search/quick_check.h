#pragma once
// A quick check of every frame of a stream, in a fraction of a millisecond. It decides where a
// noise estimate is worth its time.

#include <cstdint>

#include "core/frame.h"
#include "core/plane.h"

namespace lull::tools {

/// Statistics of luma, or of green for RGB.
struct QuickCheck {
  /// Means of 16x16 samples (every fourth row of them), in 8-bit levels.
  Plane<std::uint8_t> cells;
  /// Mean deviation of samples from the mean of their row neighbours, in flat areas that are not
  /// constant, in 8-bit levels. White noise of standard deviation sigma gives about 0.9 sigma. 0:
  /// the frame is constant.
  float flat_noise = 0;
};

/// `frame` must be in host memory.
[[nodiscard]] QuickCheck quick_check(const Frame& frame);

/// Returns false if there is a cut between the two frames.
[[nodiscard]] bool is_same_scene(const QuickCheck& a, const QuickCheck& b);
/// Returns whether the frames may be repetitions; the check compares the statistics only.
[[nodiscard]] bool may_repeat(const QuickCheck& a, const QuickCheck& b);
/// Returns whether most blocks of the second frame are exact copies of moved blocks of the first
/// one. Such a picture is synthetic, for example a scrolling title, and the difference of its
/// frames contains no noise. The main planes are compared.
[[nodiscard]] bool is_moved_copy(const Frame& a, const Frame& b);
/// Returns whether two values of QuickCheck::flat_noise indicate different noise levels: they
/// differ by more than a tenth.
[[nodiscard]] bool may_differ_in_noise(float flat_noise_a, float flat_noise_b);
/// Returns whether the values of two consecutive frames indicate different noise levels: they
/// differ by more than a fifth.
[[nodiscard]] bool noise_jumps(float flat_noise_a, float flat_noise_b);

}  // namespace lull::tools
