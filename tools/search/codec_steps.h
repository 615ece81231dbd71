#pragma once
// Adds the coding error (quantisation error of a lossy codec) to the estimated noise.

#include <vector>

#include "noise/estimate/estimate.h"

namespace lull::tools {

/// Computes the coding error from the mean quantisation step of the frames in `excerpts` with a
/// known step, and adds it to `estimate`.
void add_codec_error(const std::vector<Excerpt>& excerpts, NoiseEstimate& estimate);

}  // namespace lull::tools
