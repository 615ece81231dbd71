#pragma once
// What is left of Gaussian noise where samples end: what it would carry beyond lies at the end
// (Foi 2009, "Clipped noisy images", doi:10.1016/j.sigpro.2009.04.035, section 2).

namespace lull {

/// Samples of one intensity, clipped at one end; in units of the deviation that the noise had
/// before.
struct ClippedGaussian {
  double intensity;  // how far it is from the end: below 0 beyond it
  double variance;   // of the samples: 1 where nothing is clipped
  double at_end;     // the share of samples that lie there
};

/// Of samples whose mean is `distance` > 0 away from the end, towards where samples may be. (The
/// mean of clipped samples says how much of them is clipped.) Nothing beyond four deviations
/// outside is told apart.
[[nodiscard]] ClippedGaussian clipped_gaussian(double distance);

}  // namespace lull
