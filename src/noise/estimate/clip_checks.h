#pragma once
// Checks of the frames of an excerpt before noise is measured between them: whether frames are
// interlaced, whether two frames show one scene, and at which values samples are clipped.

#include <array>
#include <cstdint>
#include <limits>
#include <span>

#include "core/frame.h"
#include "noise/estimate/clip_motion.h"
#include "noise/estimate/estimate.h"

namespace lull {

/// Clip limits of each stored plane on the 0..255 scale: noise that would carry samples beyond a
/// limit leaves them at the limit.
struct ClipRange {
  std::array<float, 3> low, high;
};

/// Returns the values at which samples are clipped: the limits of the format. For Y, they are
/// replaced by levels inside these limits at which many samples lie (limited range, black bars with
/// a level of their own).
[[nodiscard]] ClipRange range_of(const Frame& frame, const ClipLuma& luma);

/// Returns true if frames consist of two fields with motion between them: neighbouring rows then
/// differ more from each other than rows two apart.
[[nodiscard]] bool are_interlaced(std::span<const Excerpt> excerpts);
/// Returns the rows with even numbers of each frame. The result shares the frames' samples.
[[nodiscard]] Excerpt top_fields(const Excerpt& excerpt);

/// Returns false if there is a scene cut between the frames. Frames are compared by means of 16x16
/// samples, in which noise hardly counts, up to gain and offset.
[[nodiscard]] bool is_same_scene(const ClipLuma& a, const ClipLuma& b);
/// Returns false if there is a scene cut between two frames, given as means of 16x16 samples.
[[nodiscard]] bool is_same_scene(PlaneView<const std::uint8_t> a, PlaneView<const std::uint8_t> b);

}  // namespace lull
