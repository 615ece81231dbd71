#pragma once
// Computes the quantised guide of the matcher (definition: params.h).

#include <cstdint>

#include "core/image.h"
#include "match/match_params.h"

namespace lull::linear {

/// Quantises the picture `guide` to `to`, which has the same size.
void quantise(PlaneView<const float> guide, const GuideRange& range, PlaneView<std::uint8_t> to);

}  // namespace lull::linear
