#pragma once
// Statistics of Gaussian noise that is clipped at one limit. Noisy samples beyond the limit get the
// value of the limit (Foi 2009, "Clipped noisy images", doi:10.1016/j.sigpro.2009.04.035, section
// 2).

namespace lull {

/// Statistics of clipped samples of one intensity. The unit is the standard deviation of the noise
/// before clipping.
struct ClippedGaussian {
  // Distance of the intensity from the clip limit. The distance is negative if the intensity lies
  // beyond the limit.
  double intensity;
  double variance;       // variance of the clipped samples; 1: nothing is clipped
  double clipped_share;  // share of the samples that lie at the limit
};

/// Returns the statistics of clipped samples whose mean after clipping lies `distance` > 0 inside
/// the limit. The intensity of the result is at most four standard deviations beyond the limit.
[[nodiscard]] ClippedGaussian clipped_gaussian(double distance);

}  // namespace lull
