#pragma once
// Statistics of Gaussian noise that is clipped at one limit (Foi 2009, "Clipped noisy images",
// doi:10.1016/j.sigpro.2009.04.035, section 2).

namespace lull {

/// Statistics of clipped samples of one intensity, in standard deviations of the unclipped noise.
struct ClippedGaussian {
  // Distance of the intensity from the clipping limit, negative beyond the limit.
  double intensity;
  double variance;       // variance of the clipped samples; 1: nothing is clipped
  double clipped_share;  // share of the samples that lie at the limit
};

/// Returns the statistics of clipped samples whose mean lies `distance` > 0 inside the limit.
[[nodiscard]] ClippedGaussian clipped_gaussian(double distance);

}  // namespace lull
