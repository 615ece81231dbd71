#pragma once
// Fits the parameters with which a decoder synthesises grain like the measured grain of a scene.

#include <optional>

#include "noise/estimate/estimate.h"
#include "noise/grain/grain_table.h"
#include "noise/grain/statistics.h"

namespace lull {

/// Noise from another source than the removed noise, for example measured over time.
struct KnownGrain {
  const NoiseEstimate& noise;  // noise of Y, Cb and Cr
  const GrainStatistics& all;  // statistics of all scenes with this noise
};

/// Fits autoregressive filters to the measured correlations by the normal equations (Yule-Walker),
/// corrected for the blocks from which decoders compose the grain. Fits scaling functions of luma
/// to the variances, for the level of the filters' grain. The result is empty if there is no
/// noticeable grain (less than a fifth of an 8-bit step in every plane), or if nothing was
/// measured. `known`: null, or noise whose levels (grain_curve.h), and correlations unless it is
/// white, replace the measured ones.
[[nodiscard]] std::optional<GrainParams> fit_grain(const GrainStatistics& statistics,
                                                   const KnownGrain* known = nullptr);

}  // namespace lull
