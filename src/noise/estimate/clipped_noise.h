#pragma once
// Detection of clipped noise: in black or white areas half of the noise is cut off, and the mean of
// the remaining samples is too bright or too dark (Foi 2009, "Clipped noisy images",
// doi:10.1016/j.sigpro.2009.04.035).

#include <span>

#include "noise/estimate/estimate.h"

namespace lull {

/// Adds noise curves with clip limits to the planes of `estimate` where a relevant share of the
/// samples is clipped, so that filters compensate the clipping. If `measured` is not null, it is
/// the curve of the luma of a clip, and is used as well. Chroma planes and weak noise get no clip
/// limits.
void add_clip_limits(std::span<const Excerpt> excerpts,
                     const std::shared_ptr<const NoiseCurve>& measured, NoiseEstimate& estimate);

}  // namespace lull
