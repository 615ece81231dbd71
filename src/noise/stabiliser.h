#pragma once
// Variance stabilisation of noise whose level depends on the intensity, or that is clipped. A
// function f maps the samples before a filter, and an inverse maps the filter's results.
//
// Foi, Trimeche, Katkovnik, Egiazarian 2008, "Practical Poissonian-Gaussian noise modeling and
// fitting for single-image raw-data" (doi:10.1109/TIP.2008.2001399), models a sample of intensity y
// as y + s(y) n, clipped, with a standard normal variable n. Foi 2009, "Clipped noisy images:
// heteroskedastic modeling and practical denoising" (doi:10.1016/j.sigpro.2009.04.035), stabilises
// the noise by a function f with f'(z) = sigma / S, where S is the standard deviation of clipped
// samples with the mean z. This file uses f'(z) = sigma / sqrt(s S), which is the same where no
// sample is clipped (docs/measurements/clipped-noise.md states the gain). A filter estimates E[f(z)
// | y], which is not f(y), so the inverse returns the y for which this expectation equals the
// filter's result (Makitalo and Foi 2013, doi:10.1109/TIP.2012.2202675).
//
// Patch-based filters return slightly less than E[f(z) | y] where the distribution of the noise has
// a long bright tail, as clipped noise has in dark areas. The matcher prefers patches without
// samples of the tail, and such patches get larger weights. The parameter `skew_bias` is the size
// of this bias.

#include <array>
#include <memory>

#include "core/clip_limits.h"
#include "core/sample_curve.h"
#include "noise/noise_model.h"

namespace lull {

class Stabiliser {
 public:
  /// `curve` must be valid (validate()). `skew_bias` is the bias of the filter: the stabiliser
  /// assumes that the filter returns E[f(z) | y] - skew_bias * (standard deviation of the noise) *
  /// (skewness of the noise). The constructor takes a few milliseconds.
  explicit Stabiliser(const NoiseCurve& curve, double skew_bias = 0);

  /// Returns the increasing forward function f. It maps 0 to 0, 255 to 255, and the range
  /// filter_range_min..filter_range_max (float_range.h) into itself.
  const SampleCurve& forward() const { return forward_; }
  /// Returns the increasing inverse function, which maps a filter's result to an intensity. Near a
  /// clip limit, results of the inverse function may lie beyond the limit; clip_limits() defines
  /// how they are clipped.
  const SampleCurve& inverse() const { return inverse_; }
  /// Returns the clip limits of samples and of results (core/clip_limits.h).
  const ClipLimits& clip_limits() const { return clip_limits_; }
  /// Returns the standard deviation of the noise after forward(), on the 0..255 scale, where no
  /// sample is clipped. Clipped samples have weaker noise.
  float sigma() const { return sigma_; }

 private:
  SampleCurve forward_, inverse_;
  ClipLimits clip_limits_;
  float sigma_ = 0;
};

/// The stabilisers of a frame's planes; null: the plane's samples are not stabilised.
using Stabilisers = std::array<std::shared_ptr<const Stabiliser>, 3>;

/// Returns the value of PlaneNoise::sigma that describes exactly the noise of `curve`.
[[nodiscard]] float stabilised_sigma(const NoiseCurve& curve);

}  // namespace lull
