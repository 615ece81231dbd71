#pragma once
// Pairs of neighbouring frames, which are needed for patches that span two frames.

#include <array>
#include <cstddef>
#include <span>

#include "time/frames.h"

namespace lull {

/// Value of a frame index that stands for "no frame".
inline constexpr int no_frame = -1;

/// Returns, for each frame of a list (FrameAt, frames.h), the index of its partner: the frame into
/// which its patches extend. The partner is the next later frame of the list or, if the list has no
/// frame after the reference frame (the first of the list), the next earlier frame. Without such a
/// frame, the partner is no_frame. The reference frame has a partner unless it is alone.
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
