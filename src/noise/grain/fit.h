#pragma once
// Fits the parameters of AV1 grain synthesis to the measured grain of a scene.

#include <optional>

#include "noise/estimate/estimate.h"
#include "noise/grain/grain_table.h"
#include "noise/grain/statistics.h"

namespace lull {

/// Known noise of a scene, for example from repeated estimates. The known noise replaces
/// measurements of the removed noise.
struct KnownGrain {
  const NoiseEstimate& noise;  // noise of Y, Cb and Cr
  const GrainStatistics& all;  // statistics of all scenes to which this noise applies
};

/// Fits autoregressive filters to the correlations of a scene's grain (Yule-Walker), and scaling
/// functions of luma to its variances. Returns std::nullopt for grain below a fifth of an 8-bit
/// step.
/// @param known  if not null, its levels (grain_curve.h), and its correlations if it is coloured,
///     replace the measured values
[[nodiscard]] std::optional<GrainParams> fit_grain(const GrainStatistics& statistics,
                                                   const KnownGrain* known = nullptr);

}  // namespace lull
