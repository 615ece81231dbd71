#pragma once
// Adds the coding error (quantisation error of a lossy codec) to the estimated noise.

#include <vector>

#include "noise/estimate/estimate.h"

namespace lull::tools {

/// Adds the coding error to `estimate`. The function computes the coding error from the mean
/// quantisation step of all frames with a known step.
void add_codec_error(const std::vector<Excerpt>& excerpts, NoiseEstimate& estimate);

}  // namespace lull::tools
