#pragma once
// Checks of an excerpt before the noise measurement: interlacing, scene cuts, and clipping limits.

#include <array>
#include <cstdint>
#include <limits>
#include <span>

#include "core/frame.h"
#include "noise/estimate/clip_motion.h"
#include "noise/estimate/estimate.h"

namespace lull {

/// Clipping limits of each stored plane on the 0..255 scale.
struct ClipRange {
  std::array<float, 3> low, high;
};

/// Returns the clipping limits of a frame: the limits of the format, or the extreme values of Y if
/// many samples have these values. If float samples lie beyond 0..255, the extreme value is not a
/// clipping limit.
[[nodiscard]] ClipRange range_of(const Frame& frame, const ClipLuma& luma);

/// Returns whether the frames are interlaced: adjacent rows differ more than rows two apart.
[[nodiscard]] bool are_interlaced(std::span<const Excerpt> excerpts);
/// Returns the top fields (even rows) of the frames. The function does not copy the samples.
[[nodiscard]] Excerpt top_fields(const Excerpt& excerpt);

/// Returns false if there is a scene cut between two frames. Changes of gain or offset are not
/// cuts.
[[nodiscard]] bool is_same_scene(const ClipLuma& a, const ClipLuma& b);
/// Returns false if there is a scene cut between two frames. The arguments are the means over 16x16
/// samples of each frame.
[[nodiscard]] bool is_same_scene(PlaneView<const std::uint8_t> a, PlaneView<const std::uint8_t> b);

}  // namespace lull
