#pragma once
// Adds the error of the codec of an input to an estimate.

#include <vector>

#include "noise/estimate/estimate.h"

namespace lull::tools {

/// Adds the error of the codec from which the frames were decoded (add_codec_error()). The
/// quantisation is the mean over those frames for which it is known.
void add_codec_error(const std::vector<Excerpt>& excerpts, NoiseEstimate& estimate);

}  // namespace lull::tools
