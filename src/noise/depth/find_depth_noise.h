#pragma once
// Determines the noise level of depth maps. The user specifies the level, or the library estimates
// it.

#include <optional>
#include <span>

#include "core/frame.h"
#include "noise/depth/depth_scale.h"
#include "noise/noise_model.h"

namespace lull {

/// The settings of a session for depth maps.
struct DepthSetup {
  DepthScale scale;
  PlaneNoise noise;  // noise on the 0..255 scale of `scale`
};

/// Returns the settings of a session for consecutive depth maps. `statistics` contains the depths
/// of these maps. `sigma` is the noise level in the unit of depths. If `sigma` is empty, the
/// function estimates the noise, which may then be coloured. The noise has no curve, because the
/// scale compensates for the growth of the noise with depth. `reference` is an argument of
/// DepthStatistics::scale().
[[nodiscard]] DepthSetup prepare_depth(const DepthStatistics& statistics,
                                       std::span<const Frame> maps, std::optional<double> sigma,
                                       std::optional<double> reference);

}  // namespace lull
