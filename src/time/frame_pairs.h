#pragma once
// Pairs of neighbouring frames, for patches that extend over two frames.

#include <array>
#include <cstddef>
#include <span>

#include "time/frames.h"

namespace lull {

/// Value of a frame index that represents no frame.
inline constexpr int no_frame = -1;

/// Returns the partner of each frame of a list (FrameAt, frames.h). The patches of a frame extend
/// into its partner. The first frame of the list is the reference frame. If the list has later
/// frames than the reference frame, the partner is the next later frame of the list. If not, the
/// partner is the next earlier frame. A frame without a partner gets `no_frame`.
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
