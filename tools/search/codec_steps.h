#pragma once
// Adds the error of the codec of an input to an estimate.

#include <vector>

#include "noise/estimate/estimate.h"

namespace lull::tools {

/// Adds the codec error of the frames to the estimate (add_codec_error() of noise/estimate). The
/// codec error is computed from the mean quantisation of those frames whose quantisation is known.
void add_codec_error(const std::vector<Excerpt>& excerpts, NoiseEstimate& estimate);

}  // namespace lull::tools
