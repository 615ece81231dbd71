#pragma once
// Checks of an excerpt before its noise is measured: interlacing, scene cuts, and clip limits.

#include <array>
#include <cstdint>
#include <limits>
#include <span>

#include "core/frame.h"
#include "noise/estimate/clip_motion.h"
#include "noise/estimate/estimate.h"

namespace lull {

/// Clip limits of each stored plane on the 0..255 scale. Noisy samples beyond a limit get the value
/// of the limit.
struct ClipRange {
  std::array<float, 3> low, high;
};

/// Returns the clip limits of a frame. By default, these are the limits of the format. If the
/// darkest or the brightest value of Y lies inside the limits of the format and occurs in many
/// samples, this value is the clip limit (limited range, or bars that are brighter than black).
[[nodiscard]] ClipRange range_of(const Frame& frame, const ClipLuma& luma);

/// Returns whether the frames are interlaced (two fields with motion between the fields). In
/// interlaced frames, adjacent rows differ more from each other than rows that are two apart.
[[nodiscard]] bool are_interlaced(std::span<const Excerpt> excerpts);
/// Returns the top fields, which are the even rows of the frames. The result shares the samples of
/// the frames.
[[nodiscard]] Excerpt top_fields(const Excerpt& excerpt);

/// Returns false if there is a scene cut between the two frames. The function correlates means of
/// 16x16 samples, in which noise is weak. Changes of gain or offset do not count as cuts.
[[nodiscard]] bool is_same_scene(const ClipLuma& a, const ClipLuma& b);
/// Returns false if there is a scene cut between two frames. The arguments are the means of the
/// frames over 16x16 samples.
[[nodiscard]] bool is_same_scene(PlaneView<const std::uint8_t> a, PlaneView<const std::uint8_t> b);

}  // namespace lull
