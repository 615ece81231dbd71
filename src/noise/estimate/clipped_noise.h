#pragma once
// Noise that samples cannot hold: where a picture is black or white, half of it is cut off, and a
// mean of what is left is too bright or too dark (Foi 2009, "Clipped noisy images",
// doi:10.1016/j.sigpro.2009.04.035).

#include <span>

#include "noise/estimate/estimate.h"

namespace lull {

/// Gives the planes of `estimate` curves with the ends at which their samples are clipped, if so
/// many are that it shows, so that filters make up for it; and the luma of clips `measured`, if
/// that is not null, is a curve over brightness. Planes of chroma are not clipped, nor is weak
/// noise.
void consider_ends(std::span<const Look> looks, const std::shared_ptr<const NoiseCurve>& measured,
                   NoiseEstimate& estimate);

}  // namespace lull
