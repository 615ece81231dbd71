#pragma once
// Noise whose strength depends on the intensity, or that is clipped, made the same everywhere: a
// function f of samples before a filter, and the way back after it.
//
// Foi, Trimeche, Katkovnik, Egiazarian 2008, "Practical Poissonian-Gaussian noise modeling and
// fitting for single-image raw-data" (doi:10.1109/TIP.2008.2001399): samples are y + s(y) n, n
// standard normal, clipped. Foi 2009, "Clipped noisy images: heteroskedastic modeling and practical
// denoising" (doi:10.1016/j.sigpro.2009.04.035), makes the noise even by f'(z) = sigma / S, where S
// is the standard deviation of clipped samples with the mean z. Here it is sigma / sqrt(s S): where
// nothing is clipped the same, and where much is, only half as steep
// (docs/measurements/clipped-noise.md has what that gains). Makitalo and Foi 2013
// (doi:10.1109/TIP.2012.2202675): what a filter gives is an estimate of E[f(z) | y], which is not
// f(y); so that y is taken for which it is.
//
// A filter of patches gives somewhat less than E[f(z) | y] where the noise leans to the bright
// side, as clipped noise in the dark does: patches with less of the long tail are more alike, so
// that they are found together and weigh more. By how much is the filter's to say.

#include <array>
#include <memory>

#include "core/sample_curve.h"
#include "core/sample_ends.h"
#include "noise/noise_model.h"

namespace lull {

class Stabiliser {
 public:
  /// `curve` is valid (validate()). `lean`: what a filter gives is E[f(z) | y] less so much of the
  /// noise's standard deviation times its skewness. A few milliseconds.
  explicit Stabiliser(const NoiseCurve& curve, double lean = 0);

  /// f: 0 and 255 stay where they are, what lies between stays there; and nothing within
  /// least_seen..greatest_seen (float_range.h) leaves that. Increasing.
  const SampleCurve& forward() const { return forward_; }
  /// y, for what a filter gives for samples f(z) of intensity y. Increasing. What a filter gives of
  /// samples at the ends lies to both sides of them; ends() says how it is kept between.
  const SampleCurve& inverse() const { return inverse_; }
  /// Where samples are clipped, and results with them (sample_ends.h).
  const SampleEnds& ends() const { return ends_; }
  /// Standard deviation of the noise in what forward() gives, on the 0..255 scale, where samples
  /// are not clipped; where they are it is less.
  float sigma() const { return sigma_; }

 private:
  SampleCurve forward_, inverse_;
  SampleEnds ends_;
  float sigma_ = 0;
};

/// Of the planes of a frame; null: samples stay as they are.
using Stabilisers = std::array<std::shared_ptr<const Stabiliser>, 3>;

/// PlaneNoise::sigma for noise that is exactly as `curve` says.
[[nodiscard]] float stabilised_sigma(const NoiseCurve& curve);

}  // namespace lull
