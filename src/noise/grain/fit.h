#pragma once
// From what was measured of a scene's grain to what makes a decoder synthesise its like.

#include <optional>

#include "noise/estimate/estimate.h"
#include "noise/grain/grain_table.h"
#include "noise/grain/statistics.h"

namespace lull {

/// Noise that was measured otherwise than by what denoising took away: over time, say.
struct KnownGrain {
  const NoiseEstimate& noise;  // of Y, Cb and Cr
  const GrainStatistics& all;  // of all scenes that have it
};

/// Autoregressive filters by the normal equations (Yule-Walker) of the measured correlations,
/// corrected for the blocks that a decoder cuts its grain into, and scaling functions of luma from
/// the variances, for the level that the filters' grain has. Empty: there is no grain to speak of
/// (less than a fifth of a step of 8 bits in every plane), or nothing was measured. `known`: null,
/// or what replaces levels (grain_curve.h) and correlations, where it is not white.
[[nodiscard]] std::optional<GrainParams> fit_grain(const GrainStatistics& statistics,
                                                   const KnownGrain* known = nullptr);

}  // namespace lull
