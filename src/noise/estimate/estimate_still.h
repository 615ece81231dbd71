#pragma once
// Estimates the noise of still pictures.

#include <span>

#include "noise/estimate/estimate.h"

namespace lull {

/// Estimates the noise of pictures in host memory that have one format and equal noise.
[[nodiscard]] NoiseEstimate estimate_stills(std::span<const Frame> pictures);

}  // namespace lull
