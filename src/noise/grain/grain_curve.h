#pragma once
// The level of the grain of a scene as a function of luma, computed from the noise that denoising
// removed or from known noise. Known noise includes the noise that denoising leaves in the picture,
// and has levels for lumas without flat areas.

#include <vector>

#include "noise/estimate/estimate.h"
#include "noise/grain/statistics.h"

namespace lull {

struct GrainLevel {
  double at = 0, sigma = 0;  // `at`: luma; `sigma`: standard deviation in 8-bit steps
};
/// Standard deviations of the grain, in the order of increasing luma.
using GrainCurve = std::vector<GrainLevel>;

/// Minimum standard deviation of grain, in 8-bit steps. Weaker grain counts as no grain.
inline constexpr double min_grain = 0.2;

/// Returns the variance of rounding, in squared units of grain_unit, that is subtracted from the
/// variance of the removed noise. Samples are rounded before and after denoising. Only one of the
/// two roundings is subtracted, because decoders round the synthetic grain, too.
[[nodiscard]] double rounding_variance(const FrameFormat& format);

/// Returns the grain curve of the removed noise. Each standard deviation is averaged over
/// neighbouring bins of luma, weighted by their numbers of samples.
[[nodiscard]] GrainCurve removed_curve(const GrainStatistics& statistics, int plane);

/// Returns the grain curve of known noise, scaled by the strength of the noise removed in `scene`,
/// relative to the noise removed in `all` scenes. If no noise was removed, or if `known` is empty,
/// the result is `removed`.
/// @param known  standard deviations on the 0..255 scale, in the order of increasing luma
[[nodiscard]] GrainCurve known_curve(const GrainCurve& removed, const GrainStatistics& scene,
                                     const GrainStatistics& all, int plane,
                                     const std::vector<LevelAtLuma>& known);

[[nodiscard]] bool has_grain(const GrainCurve& curve);

}  // namespace lull
