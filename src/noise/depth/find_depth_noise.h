#pragma once
// The noise of depth maps, stated or found.

#include <optional>
#include <span>

#include "core/frame.h"
#include "noise/depth/depth_scale.h"
#include "noise/noise_model.h"

namespace lull {

/// What a session for depth maps is opened with.
struct KnownDepth {
  DepthScale scale;
  PlaneNoise noise;  // on its 0..255 scale
};

/// Of maps that follow one another, whose depths `look` has seen. `sigma`: in the depths' unit;
/// empty: it is found (noise/estimate), by what lies beside holes too, and may have a correlation.
/// A curve it has not, as the scale says how noise grows. `reference`: as of DepthLook::scale().
[[nodiscard]] KnownDepth known_depth(const DepthLook& look, std::span<const Frame> maps,
                                     std::optional<double> sigma, std::optional<double> reference);

}  // namespace lull
