#pragma once
// The noise of pictures, each judged alone.

#include <span>

#include "noise/estimate/estimate.h"

namespace lull {

/// Of pictures of one format with the same noise, their samples in the host's memory.
[[nodiscard]] NoiseEstimate estimate_stills(std::span<const Frame> pictures);

}  // namespace lull
