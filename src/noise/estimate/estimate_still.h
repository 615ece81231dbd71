#pragma once
// Estimates the noise of still pictures.

#include <span>

#include "noise/estimate/estimate.h"

namespace lull {

/// Estimates the noise of pictures of one format, which must have the same noise. Their samples
/// must be in host memory.
[[nodiscard]] NoiseEstimate estimate_stills(std::span<const Frame> pictures);

}  // namespace lull
