#pragma once
// Determines the noise level of depth maps: specified by the user, or estimated.

#include <optional>
#include <span>

#include "core/frame.h"
#include "noise/depth/depth_scale.h"
#include "noise/noise_model.h"

namespace lull {

/// Settings with which a session for depth maps is opened.
struct DepthSetup {
  DepthScale scale;
  PlaneNoise noise;  // noise on the 0..255 scale of `scale`
};

/// Returns the settings for consecutive maps. `statistics` contains the depths of these maps.
/// `sigma` is the noise level in the unit of depths; if it is empty, the function estimates the
/// noise (noise/estimate), which may then be coloured. The estimate uses blocks without holes if
/// there are enough. The noise has no curve, because the scale defines how the noise grows with
/// depth. `reference` is the reference depth for DepthStatistics::scale().
[[nodiscard]] DepthSetup prepare_depth(const DepthStatistics& statistics,
                                       std::span<const Frame> maps, std::optional<double> sigma,
                                       std::optional<double> reference);

}  // namespace lull
