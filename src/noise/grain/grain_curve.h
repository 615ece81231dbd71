#pragma once
// Level of the grain of a scene as a function of luma.

#include <vector>

#include "noise/estimate/estimate.h"
#include "noise/grain/statistics.h"

namespace lull {

struct GrainLevel {
  double at = 0, sigma = 0;  // `at`: luma; `sigma`: standard deviation in 8-bit steps
};
/// Standard deviations of the grain, in the order of increasing luma.
using GrainCurve = std::vector<GrainLevel>;

/// Grain whose standard deviation is below this value, in 8-bit steps, is treated as no grain.
inline constexpr double min_grain = 0.2;

/// Stored samples are rounded before and after denoising, so the removed noise contains two
/// variances of rounding. One of these two variances remains in the synthetic grain, because the
/// decoder also rounds. This function returns the variance of one rounding, which must be
/// subtracted, in squared units of grain_unit.
[[nodiscard]] double rounding_variance(const FrameFormat& format);

/// Returns the grain curve of the removed noise. Each standard deviation is averaged over
/// neighbouring bins, weighted by their numbers of samples.
[[nodiscard]] GrainCurve removed_curve(const GrainStatistics& statistics, int plane);

/// Returns the grain curve of known noise. `known` has standard deviations on the 0..255 scale, in
/// the order of increasing luma. Unlike the grain curve of the removed noise, the grain curve of
/// known noise includes the noise that denoising leaves in the picture, and has values at lumas
/// without flat areas. The function scales the curve by the strength of the noise removed in
/// `scene`, relative to the noise removed in `all` scenes to which the known noise applies. If
/// denoising removed no noise, or `known` is empty, the result is `removed`.
[[nodiscard]] GrainCurve known_curve(const GrainCurve& removed, const GrainStatistics& scene,
                                     const GrainStatistics& all, int plane,
                                     const std::vector<LevelAtLuma>& known);

[[nodiscard]] bool has_grain(const GrainCurve& curve);

}  // namespace lull
