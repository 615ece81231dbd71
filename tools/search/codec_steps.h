#pragma once
// Adds the coding error (quantisation error of a lossy codec) to the estimated noise.

#include <vector>

#include "noise/estimate/estimate.h"

namespace lull::tools {

/// Adds the coding error to `estimate`, computed from the mean quantisation step of those frames in
/// `excerpts` whose step is known.
void add_codec_error(const std::vector<Excerpt>& excerpts, NoiseEstimate& estimate);

}  // namespace lull::tools
