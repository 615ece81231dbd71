#pragma once
// Adds the error of the codec of an input to an estimate.

#include <vector>

#include "noise/estimate/estimate.h"

namespace lull::tools {

/// Adds the codec error of the frames to the estimate (add_codec_error() of noise/estimate). The
/// quantisation is the mean over the frames with known quantisation.
void add_codec_error(const std::vector<Excerpt>& excerpts, NoiseEstimate& estimate);

}  // namespace lull::tools
