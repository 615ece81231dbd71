#pragma once
// The grain level of a scene as a function of luma, from removed or known noise. Known noise
// includes the noise that denoising leaves.

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

/// Returns the variance of the rounding error of integer samples, in units of (1 / grain_unit)^2
/// squared 8-bit steps. Decoders round the synthetic grain and thereby add this variance again. The
/// caller therefore subtracts this variance from the variance of the removed noise.
[[nodiscard]] double rounding_variance(const FrameFormat& format);

/// Returns the grain curve of the removed noise, smoothed over neighbouring bins of luma.
[[nodiscard]] GrainCurve removed_curve(const GrainStatistics& statistics, int plane);

/// Returns the grain curve of known noise, scaled to one scene. The scale factor is the ratio of
/// the noise removed in `scene` to the noise removed in `all` scenes. If the filter removed no
/// noise or `known` is empty, the function returns `removed`.
/// @param known  standard deviations on the 0..255 scale, in the order of increasing luma
[[nodiscard]] GrainCurve known_curve(const GrainCurve& removed, const GrainStatistics& scene,
                                     const GrainStatistics& all, int plane,
                                     const std::vector<LevelAtLuma>& known);

[[nodiscard]] bool has_grain(const GrainCurve& curve);

}  // namespace lull
