#pragma once
// Pairs of neighbouring frames, for patches that span two frames.

#include <array>
#include <cstddef>
#include <span>

#include "time/frames.h"

namespace lull {

/// Frame index that represents no frame.
inline constexpr int no_frame = -1;

/// Returns the index of a partner for each frame in a list of frames (FrameAt, frames.h). The
/// partner provides the second part of patches that span two frames. If the list contains a frame
/// after the reference frame, the partner is the next later frame. Otherwise, the partner is the
/// next earlier frame. For frames without a partner, the result is `no_frame`.
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
