#pragma once
// What has to be known of the frames of a look before noise is measured between them: whether they
// are weaved of fields, whether two show one scene, and where their samples end.

#include <array>
#include <cstdint>
#include <limits>
#include <span>

#include "core/frame.h"
#include "noise/estimate/clip_motion.h"
#include "noise/estimate/estimate.h"

namespace lull {

/// Where samples of each plane of the file end, on the 0..255 scale: what noise would carry beyond
/// lies there.
struct ClipRange {
  std::array<float, 3> low, high;
};

/// The ends of the format and, of Y, those at which samples gather within it (limited range, black
/// bars with a level of their own).
[[nodiscard]] ClipRange range_of(const Frame& frame, const ClipLuma& luma);

/// Whether frames are weaved of two fields that moved in between: neighbouring rows differ by more
/// than every second one.
[[nodiscard]] bool are_weaved(std::span<const Look> looks);
/// The rows with even numbers of each frame, sharing its samples.
[[nodiscard]] Look even_fields(const Look& look);

/// False: a cut lies between. Judged by means of 16x16 samples, in which noise hardly counts, up to
/// gain and offset.
[[nodiscard]] bool show_one_scene(const ClipLuma& a, const ClipLuma& b);
/// The same of such means.
[[nodiscard]] bool show_one_scene(PlaneView<const std::uint8_t> a, PlaneView<const std::uint8_t> b);

}  // namespace lull
