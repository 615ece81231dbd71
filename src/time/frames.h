#pragma once
// Defines the maximum number of neighbouring frames of a reference frame, and the types that
// represent these frames in the stages of a method.

#include <array>
#include <cstddef>
#include <span>

#include "core/denoiser.h"

namespace lull {

/// Maximum number of neighbouring frames before and after a frame.
inline constexpr int max_temporal = 8;
/// Maximum number of frames from which a group can have patches.
inline constexpr int max_frames = 2 * max_temporal + 1;

/// Phases of a method, in the order in which they run. Each phase matches and filters all patches
/// of a frame. Phases after the second have no names.
enum class Phase { first, second };

/// A frame as input of a stage, with its offset from the reference frame. In lists, the reference
/// frame comes first. The other frames follow in the order of match/group.h.
template <class View>
struct FrameAt {
  int offset = 0;
  View frame{};
};

/// Returns the frame at `offset`. The list must contain the frame.
template <class View>
constexpr const View& frame_at(std::span<const FrameAt<View>> frames, int offset) {
  std::size_t i = 0;
  while (frames[i].offset != offset) ++i;
  return frames[i].frame;
}

/// A table with one value for each possible neighbouring frame, indexed by its offset from the
/// reference frame.
template <class T>
struct ByOffset {
  std::array<T, max_frames> values{};
  constexpr T& operator[](int offset) { return values[offset + max_temporal]; }
  constexpr const T& operator[](int offset) const { return values[offset + max_temporal]; }
};

/// Returns the margin of a method with `phases` phases: how many earlier and how many later frames
/// affect the result of a frame. Each phase takes patches from `radius` frames before and after a
/// frame, and adds estimates to these frames. The detection of the beginning of a scene needs
/// another `radius` frames before the frame (timeline.h).
[[nodiscard]] constexpr Margin margin_of(int radius, int phases) {
  const int reach = 2 * radius * phases;
  return {.before = reach + radius, .after = reach};
}

/// Returns the margin of a method with SessionPlan::gathers: how many earlier and how many later
/// frames affect the result of a frame. Such a method has a single phase, and adds estimates only
/// to the frame of the reference patches.
[[nodiscard]] constexpr Margin gathering_margin(int radius) {
  return {.before = 2 * radius, .after = 2 * radius};
}

}  // namespace lull
