#pragma once
// Estimates the noise of still pictures.

#include <span>

#include "noise/estimate/estimate.h"

namespace lull {

/// Estimates the noise of several pictures. All pictures must have one format and equal noise, and
/// their samples must be in host memory.
[[nodiscard]] NoiseEstimate estimate_stills(std::span<const Frame> pictures);

}  // namespace lull
