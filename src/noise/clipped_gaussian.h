#pragma once
// Statistics of Gaussian noise that is clipped at one limit: noisy samples beyond the limit get the
// value of the limit (Foi 2009, "Clipped noisy images", doi:10.1016/j.sigpro.2009.04.035, section
// 2).

namespace lull {

/// Clipped samples of one intensity. The unit is the standard deviation of the noise before
/// clipping.
struct ClippedGaussian {
  // Distance of the intensity from the limit; negative: the intensity lies beyond the limit.
  double intensity;
  double variance;       // variance of the clipped samples; 1: nothing is clipped
  double clipped_share;  // share of the samples that lie at the limit
};

/// Returns the statistics of clipped samples whose mean after clipping lies `distance` > 0 inside
/// the limit. Intensities more than four standard deviations beyond the limit count as four
/// standard deviations beyond it.
[[nodiscard]] ClippedGaussian clipped_gaussian(double distance);

}  // namespace lull
