#pragma once
// Patches that lie in two neighbouring frames: which frame goes with which.

#include <array>
#include <cstddef>
#include <span>

#include "time/frames.h"

namespace lull {

/// No frame.
inline constexpr int no_frame = -1;

/// For each frame of a list (FrameAt), whose offsets are given, the index of the one that the
/// patches in it reach into: of those in the list the next later one, or the next earlier one if
/// none is later than the frame of the references, the list's first. So every frame is part of the
/// patches of its own references, and the references' frame has a partner unless it is alone.
[[nodiscard]] constexpr std::array<int, max_frames> partners_of(std::span<const int> offsets) {
  std::array<int, max_frames> partners{};
  const auto nearest = [&](int from, int side) {
    int best = no_frame;
    for (std::size_t k = 0; k < offsets.size(); ++k)
      if (side * offsets[k] > side * from &&
          (best == no_frame || side * offsets[k] < side * offsets[best]))
        best = static_cast<int>(k);
    return best;
  };
  const int side = nearest(offsets[0], 1) != no_frame ? 1 : -1;
  for (std::size_t k = 0; k < offsets.size(); ++k) partners[k] = nearest(offsets[k], side);
  return partners;
}

}  // namespace lull
