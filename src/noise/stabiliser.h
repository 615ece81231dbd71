#pragma once
// Variance stabilisation of noise whose level depends on the intensity, or of clipped noise. A
// function f maps the samples before a filter, and an inverse function maps the filter's results.

// Foi, Trimeche, Katkovnik, Egiazarian 2008, "Practical Poissonian-Gaussian noise modeling and
// fitting for single-image raw-data" (doi:10.1109/TIP.2008.2001399), models a sample of intensity y
// as y + s(y) n, clipped, with a standard normal variable n.

// Foi 2009, "Clipped noisy images: heteroskedastic modeling and practical denoising"
// (doi:10.1016/j.sigpro.2009.04.035), stabilises noise of the level s by a function f with f'(z) =
// sigma / S, where S is the standard deviation of clipped samples with the mean z.

// This file uses f'(z) = sigma / sqrt(s S) as the derivative of the stabilising function, where S
// is the standard deviation of clipped samples with the mean z, and s the noise level before
// clipping. docs/measurements/clipped-noise.md states the gain.

// A filter estimates E[f(z) | y] for samples z of intensity y, and this expectation is not f(y).
// The inverse function returns the y for which the expectation equals the filter's result (Makitalo
// and Foi 2013, doi:10.1109/TIP.2012.2202675).

// Bias of patch-based filters: if the noise has a long bright tail, as clipped noise in dark areas,
// the filters return slightly less than the mean of the stabilised samples. The reason is that the
// matcher prefers patches without samples of the tail, and that such patches get larger weights.
// The parameter `skew_bias` is the size of this bias.

#include <array>
#include <memory>

#include "core/clip_limits.h"
#include "core/sample_curve.h"
#include "noise/noise_model.h"

namespace lull {

class Stabiliser {
 public:
  /// `curve` must be valid (validate()). `skew_bias` is the bias of the filter: the filter returns
  /// E[f(z) | y] - skew_bias * (standard deviation of the noise) * (skewness of the noise). The
  /// constructor takes a few milliseconds.
  explicit Stabiliser(const NoiseCurve& curve, double skew_bias = 0);

  /// Returns the forward function f, which is increasing. f(0) is 0, f(255) is 255, and f maps the
  /// range filter_range_min..filter_range_max (float_range.h) into itself.
  const SampleCurve& forward() const { return forward_; }
  /// Returns the inverse function, which is increasing and maps a filter's result to an intensity.
  /// Near a clip limit, the intensity may lie beyond the limit. clip_limits() defines how to clip
  /// the intensity.
  const SampleCurve& inverse() const { return inverse_; }
  /// Returns the clip limits of samples and of results (core/clip_limits.h).
  const ClipLimits& clip_limits() const { return clip_limits_; }
  /// Returns the standard deviation of the stabilised noise, on the 0..255 scale, where no sample
  /// is clipped. Clipped samples have weaker noise.
  float sigma() const { return sigma_; }

 private:
  SampleCurve forward_, inverse_;
  ClipLimits clip_limits_;
  float sigma_ = 0;
};

/// The stabilisers of a frame's planes. Null: the samples of the plane are not stabilised.
using Stabilisers = std::array<std::shared_ptr<const Stabiliser>, 3>;

/// Returns the PlaneNoise::sigma with which filters remove exactly the noise of `curve`.
[[nodiscard]] float stabilised_sigma(const NoiseCurve& curve);

}  // namespace lull
