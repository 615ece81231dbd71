#pragma once
// Adds the quantisation error of the codec to the estimated noise.

#include <vector>

#include "noise/estimate/estimate.h"

namespace lull::tools {

/// Adds the quantisation error of the codec to `estimate`, from the mean quantisation step of all
/// frames with a known step.
void add_codec_error(const std::vector<Excerpt>& excerpts, NoiseEstimate& estimate);

}  // namespace lull::tools
