#pragma once
// Determines the noise level of depth maps: a given level, or an estimate.

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

/// Returns the settings of a session for consecutive depth maps. `sigma` is the noise level in the
/// unit of depths. If `sigma` has no value, the function estimates the noise.
[[nodiscard]] DepthSetup prepare_depth(const DepthStatistics& statistics,
                                       std::span<const Frame> maps, std::optional<double> sigma,
                                       std::optional<double> reference);

}  // namespace lull
