#pragma once
// Variance stabilisation of noise whose level depends on the intensity, or that is clipped: a
// function f is applied to samples before a filter, and the inverse of f to the filter's results.
//
// Foi, Trimeche, Katkovnik, Egiazarian 2008, "Practical Poissonian-Gaussian noise modeling and
// fitting for single-image raw-data" (doi:10.1109/TIP.2008.2001399), models a sample of the
// intensity y as y + s(y) n, clipped, with a standard normal variable n. Foi 2009, "Clipped noisy
// images: heteroskedastic modeling and practical
// denoising" (doi:10.1016/j.sigpro.2009.04.035), stabilises the noise by a function f with f'(z) =
// sigma / S, where S is the standard deviation of clipped samples with the mean z. Here f'(z) is
// sigma / sqrt(s S). Both derivatives are equal where no sample is clipped; where many samples are
// clipped, the slope rises only with the square root of s / S (docs/measurements/clipped-noise.md
// states what this gains). Makitalo and Foi 2013 (doi:10.1109/TIP.2012.2202675): a filter estimates
// E[f(z) | y], which is not f(y); the inverse therefore returns the y for which this expectation
// equals the filter's result.
//
// Patch-based filters return slightly less than E[f(z) | y] where the distribution of the noise is
// skewed towards bright values, like that of clipped noise in dark areas: patches with few samples
// of the long tail are more similar to each other than other patches, so that they are in more
// groups and get larger weights. The size of this bias depends on the filter and is a parameter
// (`skew_bias`).

#include <array>
#include <memory>

#include "core/clip_limits.h"
#include "core/sample_curve.h"
#include "noise/noise_model.h"

namespace lull {

class Stabiliser {
 public:
  /// `curve` must be valid (validate()). The stabiliser assumes that the filter's result is E[f(z)
  /// | y] minus the product of `skew_bias`, the standard deviation of the noise, and the skewness
  /// of the noise. The constructor takes a few milliseconds.
  explicit Stabiliser(const NoiseCurve& curve, double skew_bias = 0);

  /// Returns the forward function f, which is increasing. It maps 0 to 0 and 255 to 255, and it
  /// maps values within filter_range_min..filter_range_max (float_range.h) to values in that range.
  const SampleCurve& forward() const { return forward_; }
  /// Returns the inverse function: it maps a filter's result, computed from samples f(z) of
  /// intensity y, to y. The inverse function is increasing. Where samples lie at a clip limit, the
  /// results of the inverse function lie on both sides of the limit; clip_limits() defines how
  /// results are clipped.
  const SampleCurve& inverse() const { return inverse_; }
  /// Returns the limits at which samples are clipped. Results are also clipped at these limits
  /// (core/clip_limits.h).
  const ClipLimits& clip_limits() const { return clip_limits_; }
  /// Returns the standard deviation of the noise after forward(), on the 0..255 scale, where
  /// samples are not clipped. Where samples are clipped, the noise after forward() is weaker than
  /// this value.
  float sigma() const { return sigma_; }

 private:
  SampleCurve forward_, inverse_;
  ClipLimits clip_limits_;
  float sigma_ = 0;
};

/// The stabilisers of a frame's planes; null: the plane's samples are not stabilised.
using Stabilisers = std::array<std::shared_ptr<const Stabiliser>, 3>;

/// Returns the sigma (PlaneNoise::sigma) of noise that is exactly the noise that `curve` describes.
[[nodiscard]] float stabilised_sigma(const NoiseCurve& curve);

}  // namespace lull
