#pragma once
// Fits the parameters of AV1 grain synthesis to the measured grain of a scene.

#include <optional>

#include "noise/estimate/estimate.h"
#include "noise/grain/grain_table.h"
#include "noise/grain/statistics.h"

namespace lull {

/// The known noise of a scene, for example from estimates of several scenes. fit_grain() imitates
/// this noise instead of the noise that the filter removed.
struct KnownGrain {
  const NoiseEstimate& noise;  // noise of Y, Cb and Cr
  const GrainStatistics& all;  // statistics of all scenes to which this noise applies
};

/// Fits autoregressive filters to the correlations of a scene's grain (Yule-Walker equations). Fits
/// scaling functions to the grain level as a function of luma. Returns nullopt if the grain level
/// of every plane is below a fifth of an 8-bit step.
/// @param known  if not null, replaces measured levels (grain_curve.h), and the correlations of
///     coloured noise
[[nodiscard]] std::optional<GrainParams> fit_grain(const GrainStatistics& statistics,
                                                   const KnownGrain* known = nullptr);

}  // namespace lull
