#pragma once
// Level of the grain of a scene by luma.

#include <vector>

#include "noise/estimate/estimate.h"
#include "noise/grain/statistics.h"

namespace lull {

struct GrainLevel {
  double at = 0, sigma = 0;  // luma and standard deviation in 8-bit steps
};
/// Levels of grain in the order of increasing luma.
using GrainCurve = std::vector<GrainLevel>;

/// Grain with a lower standard deviation, in 8-bit steps, is treated as no grain.
inline constexpr double min_grain = 0.2;

/// Stored samples are rounded before and after denoising. The decoder's own rounding restores one
/// of the two variances; this function returns the other, in squared units of grain_unit.
[[nodiscard]] double rounding_variance(const FrameFormat& format);

/// Returns the curve of the removed noise, averaged over neighbouring bins with weights by their
/// number of samples.
[[nodiscard]] GrainCurve removed_curve(const GrainStatistics& statistics, int plane);

/// Returns the curve of known noise; `known` has standard deviations on the 0..255 scale and
/// increasing luma. Unlike the removed noise, it includes the noise that denoising leaves in the
/// picture, and lumas without flat areas. The curve is scaled by the strength of the scene,
/// compared with `all` scenes in which the noise was measured. If nothing was removed, or nothing
/// is known, the result is `removed`.
[[nodiscard]] GrainCurve known_curve(const GrainCurve& removed, const GrainStatistics& scene,
                                     const GrainStatistics& all, int plane,
                                     const std::vector<LevelAtLuma>& known);

[[nodiscard]] bool has_grain(const GrainCurve& curve);

}  // namespace lull
