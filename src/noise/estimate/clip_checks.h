#pragma once
// Checks the frames of an excerpt before noise is measured between them. The functions determine
// whether frames are interlaced, whether two frames show one scene, and at which values samples are
// clipped.

#include <array>
#include <cstdint>
#include <limits>
#include <span>

#include "core/frame.h"
#include "noise/estimate/clip_motion.h"
#include "noise/estimate/estimate.h"

namespace lull {

/// Clip limits of each stored plane on the 0..255 scale. A sample that would lie beyond a limit
/// because of noise has the value of the limit.
struct ClipRange {
  std::array<float, 3> low, high;
};

/// Returns the values at which samples are clipped. These are the limits of the format, except for
/// Y: if many samples of Y have one value inside these limits, this value is used (limited range,
/// or black bars that are brighter than black).
[[nodiscard]] ClipRange range_of(const Frame& frame, const ClipLuma& luma);

/// Returns true if frames consist of two fields with motion between them: neighbouring rows then
/// differ more from each other than rows two apart.
[[nodiscard]] bool are_interlaced(std::span<const Excerpt> excerpts);
/// Returns the even rows of each frame, which are the top fields. The result shares the frames'
/// samples.
[[nodiscard]] Excerpt top_fields(const Excerpt& excerpt);

/// Returns false if there is a scene cut between the frames. The function correlates means of 16x16
/// samples, in which noise is weak. A change of gain or offset does not count as a cut.
[[nodiscard]] bool is_same_scene(const ClipLuma& a, const ClipLuma& b);
/// Returns false if there is a scene cut between two frames, given as means of 16x16 samples.
[[nodiscard]] bool is_same_scene(PlaneView<const std::uint8_t> a, PlaneView<const std::uint8_t> b);

}  // namespace lull
