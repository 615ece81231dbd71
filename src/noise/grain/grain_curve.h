#pragma once
// How strong the grain of a scene is by luma.

#include <vector>

#include "noise/estimate/estimate.h"
#include "noise/grain/statistics.h"

namespace lull {

struct GrainLevel {
  double at = 0, sigma = 0;  // luma and standard deviation in steps of 8 bits
};
/// Rising in luma.
using GrainCurve = std::vector<GrainLevel>;

/// Grain of less is none, in steps of 8 bits.
inline constexpr double least_grain = 0.2;

/// Samples as they are stored are rounded, before and after denoising. One of the two the decoder's
/// own rounding brings back; this is its variance in units.
[[nodiscard]] double rounding_variance(const FrameFormat& format);

/// Of what was taken away, smoothed over neighbouring bins by what they rest on.
[[nodiscard]] GrainCurve removed_curve(const GrainStatistics& statistics, int plane);

/// Of noise that is known, rising in luma, by standard deviations on the 0..255 scale: it has what
/// denoising leaves in the picture, and the luma that no flat part has. As strong as the scene is
/// in comparison with `all` scenes that it was measured in. `removed`, of the scene, where nothing
/// was taken away or nothing is known.
[[nodiscard]] GrainCurve known_curve(const GrainCurve& removed, const GrainStatistics& scene,
                                     const GrainStatistics& all, int plane,
                                     const std::vector<LevelAtLuma>& known);

[[nodiscard]] bool has_grain(const GrainCurve& curve);

}  // namespace lull
