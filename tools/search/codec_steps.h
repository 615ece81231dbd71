#pragma once
// Adds the codec error of an input to the estimated noise.

#include <vector>

#include "noise/estimate/estimate.h"

namespace lull::tools {

/// Adds the codec error (add_codec_error() of noise/estimate) to `estimate`, from the mean
/// quantisation of all frames with known quantisation.
void add_codec_error(const std::vector<Excerpt>& excerpts, NoiseEstimate& estimate);

}  // namespace lull::tools
