#pragma once
// Pairs of neighbouring frames, for patches that span two frames.

#include <array>
#include <cstddef>
#include <span>

#include "time/frames.h"

namespace lull {

/// Frame index that represents no frame.
inline constexpr int no_frame = -1;

/// For patches that span two frames: returns, for each frame in a list (FrameAt, frames.h), the
/// index of its partner, or `no_frame`. The partner provides the second part of the patch. It is
/// the next later frame in the list or, if no frame in the list follows the reference frame, the
/// next earlier frame.
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
