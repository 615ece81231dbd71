#pragma once
// Fits the parameters of the grain synthesis in a decoder, so that the synthetic grain resembles
// the measured grain of a scene.

#include <optional>

#include "noise/estimate/estimate.h"
#include "noise/grain/grain_table.h"
#include "noise/grain/statistics.h"

namespace lull {

/// Noise that is known from another source than the removed noise, for example from estimates that
/// were made in the course of the clip.
struct KnownGrain {
  const NoiseEstimate& noise;  // noise of Y, Cb and Cr
  const GrainStatistics& all;  // statistics of all scenes to which this noise applies
};

/// Fits autoregressive filters to the measured correlations by the normal equations (Yule-Walker),
/// corrected for the blocks from which decoders compose the grain. The scaling functions of luma
/// are fitted to the measured variances, given the level of the grain that the filters produce. The
/// result is empty if there is no noticeable grain (less than a fifth of an 8-bit step in every
/// plane), or if nothing was measured. If `known` is not null, the levels of this noise
/// (grain_curve.h) replace the measured levels. If this noise is coloured, its correlations also
/// replace the measured correlations.
[[nodiscard]] std::optional<GrainParams> fit_grain(const GrainStatistics& statistics,
                                                   const KnownGrain* known = nullptr);

}  // namespace lull
