#pragma once
// Adds the error of the codec of an input to the estimated noise.

#include <vector>

#include "noise/estimate/estimate.h"

namespace lull::tools {

/// Adds the codec error of the frames to `estimate` (add_codec_error() of noise/estimate). The
/// codec error is computed from the mean quantisation of the frames whose quantisation is known.
void add_codec_error(const std::vector<Excerpt>& excerpts, NoiseEstimate& estimate);

}  // namespace lull::tools
