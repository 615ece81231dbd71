#pragma once
// The frames around one: how many there can be, and how stages speak of them.

#include <array>
#include <cstddef>
#include <span>

#include "core/denoiser.h"

namespace lull {

/// Frames on either side of one whose patches can be searched at most.
inline constexpr int max_temporal = 8;
/// Frames that a group can have patches of.
inline constexpr int max_frames = 2 * max_temporal + 1;

/// What a method does to a frame, in this order: each phase matches and filters all its patches.
enum class Phase { first, second, third };

/// A frame, as a stage sees it, that is `offset` frames after the one whose reference patches are
/// worked on. In lists of them that one comes first, then the others in the order of group.h.
template <class View>
struct FrameAt {
  int offset = 0;
  View frame{};
};

/// The frame at `offset`, which must be in the list.
template <class View>
constexpr const View& frame_at(std::span<const FrameAt<View>> frames, int offset) {
  std::size_t i = 0;
  while (frames[i].offset != offset) ++i;
  return frames[i].frame;
}

/// Something for each frame that there can be, by its offset.
template <class T>
struct ByOffset {
  std::array<T, max_frames> values{};
  constexpr T& operator[](int offset) { return values[offset + max_temporal]; }
  constexpr const T& operator[](int offset) const { return values[offset + max_temporal]; }
};

/// What a frame's result depends on, where each of `phases` phases takes patches from `radius`
/// frames before and after, and puts estimates into as many. Where a session begins, so many frames
/// cannot tell whether a scene does (timeline.h): hence `radius` more before.
[[nodiscard]] constexpr Margin margin_of(int radius, int phases) {
  const int reach = 2 * radius * phases;
  return {.before = reach + radius, .after = reach};
}

/// The same for a method in one phase whose estimates stay in their frame.
[[nodiscard]] constexpr Margin gathering_margin(int radius) {
  return {.before = 2 * radius, .after = 2 * radius};
}

}  // namespace lull
