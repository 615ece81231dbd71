#pragma once
// A frame at a glance: what is worth knowing of every frame of a stream, in a fraction of a
// millisecond, to see where its noise is worth a look.

#include <cstdint>

#include "core/frame.h"
#include "core/plane.h"

namespace lull::tools {

/// Of luma; of RGB, of green.
struct QuickCheck {
  /// Means of 16x16 samples, of every fourth row of them, in steps of 8 bits.
  Plane<std::uint8_t> cells;
  /// How far samples are from the mean of their neighbours in the row, in flat_noise places that are not
  /// constant: white noise of `sigma` has about 0.9 sigma. 0: all is constant. In levels.
  float flat_noise = 0;
};

/// `frame` is in the host's memory.
[[nodiscard]] QuickCheck quick_check(const Frame& frame);

/// False: a cut lies between.
[[nodiscard]] bool is_same_scene(const QuickCheck& a, const QuickCheck& b);
/// As far as a glance can tell, one repeats the other.
[[nodiscard]] bool may_repeat(const QuickCheck& a, const QuickCheck& b);
/// Whether the second frame is for the most part the first one, moved by whole samples to the bit:
/// drawn, not filmed, so that there is no noise between them. Of their main planes.
[[nodiscard]] bool is_moved_copy(const Frame& a, const Frame& b);
/// Whether noise may be of another level by QuickCheck::flat_noise: more than a tenth apart.
[[nodiscard]] bool may_differ_in_noise(float flat_noise_a, float flat_noise_b);
/// The same of frames that follow each other: more than a fifth.
[[nodiscard]] bool noise_jumps(float flat_noise_a, float flat_noise_b);

}  // namespace lull::tools
