#pragma once
// Fits the parameters of AV1 grain synthesis, so that the synthetic grain resembles the measured
// grain of a scene.

#include <optional>

#include "noise/estimate/estimate.h"
#include "noise/grain/grain_table.h"
#include "noise/grain/statistics.h"

namespace lull {

/// Noise that is known from another source than the removed noise, for example from repeated
/// estimates during the clip.
struct KnownGrain {
  const NoiseEstimate& noise;  // noise of Y, Cb and Cr
  const GrainStatistics& all;  // statistics of all scenes to which this noise applies
};

/// Fits autoregressive filters to the measured correlations by the normal equations (Yule-Walker),
/// corrected for the blocks from which decoders compose the grain. Then fits the scaling functions
/// of luma to the measured variances. The result is empty if there is no noticeable grain (less
/// than a fifth of an 8-bit step in every plane), or if nothing was measured. If `known` is not
/// null, its levels (grain_curve.h) replace the measured levels; if it is coloured, its
/// correlations also replace the measured correlations.
[[nodiscard]] std::optional<GrainParams> fit_grain(const GrainStatistics& statistics,
                                                   const KnownGrain* known = nullptr);

}  // namespace lull
