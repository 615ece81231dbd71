#pragma once
// Statistics of Gaussian noise that is clipped at one limit. A sample that would lie beyond the
// limit because of the noise has the value of the limit (Foi 2009, "Clipped noisy images",
// doi:10.1016/j.sigpro.2009.04.035, section 2).

namespace lull {

/// Samples of one intensity, clipped at one limit. The unit is the standard deviation of the noise
/// before clipping.
struct ClippedGaussian {
  // Distance of the intensity from the limit; negative: the intensity lies beyond the limit.
  double intensity;
  double variance;       // variance of the clipped samples; 1: nothing is clipped
  double clipped_share;  // share of the samples that lie at the limit
};

/// Returns the statistics of clipped samples from their mean after clipping, which determines how
/// many of them are clipped. The mean lies `distance` > 0 inside the limit. If the intensity would
/// be more than four standard deviations beyond the limit, the function returns the statistics for
/// four standard deviations.
[[nodiscard]] ClippedGaussian clipped_gaussian(double distance);

}  // namespace lull
