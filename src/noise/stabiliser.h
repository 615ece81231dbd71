#pragma once
// Variance stabilisation of clipped or intensity-dependent noise: a function f before the filter,
// and an inverse function after the filter.

// Model of the noise: a sample of intensity y is y + s(y) * n, clipped, where n is a standard
// normal variable. Source: Foi, Trimeche, Katkovnik, Egiazarian 2008, "Practical
// Poissonian-Gaussian noise modeling and fitting for single-image raw-data",
// doi:10.1109/TIP.2008.2001399.

// A function f with f'(z) = sigma / S stabilises clipped noise. S is the standard deviation of
// clipped samples with the mean z (Foi 2009, "Clipped noisy images: heteroskedastic modeling and
// practical denoising", doi:10.1016/j.sigpro.2009.04.035).

// This file uses f'(z) = sigma / sqrt(s * S) for the stabilising function f. S is the standard
// deviation of clipped samples with the mean z, and s the unclipped noise level
// (docs/measurements/clipped-noise.md).

// A filter estimates E[f(z) | y] for samples z of intensity y. This expectation differs from f(y).
// The exact unbiased inverse returns the intensity y for which E[f(z) | y] is equal to the filter's
// result (Makitalo and Foi 2013, doi:10.1109/TIP.2012.2202675).

// `skew_bias` describes a bias of patch-based filters. For noise with a long bright tail, the
// results of such filters are too low, because patches without samples of the tail match better and
// get larger weights.

#include <array>
#include <memory>

#include "core/clip_limits.h"
#include "core/sample_curve.h"
#include "noise/noise_model.h"

namespace lull {

class Stabiliser {
 public:
  /// `curve` must be valid (validate()). The results of some filters are too low for skewed noise.
  /// `skew_bias` is this bias, divided by the standard deviation and by the skewness of the noise.
  explicit Stabiliser(const NoiseCurve& curve, double skew_bias = 0);

  /// Returns the increasing forward function f. f(0) is 0, f(255) is 255, and f maps the filter
  /// range (float_range.h) into itself.
  const SampleCurve& forward() const { return forward_; }
  /// Returns the increasing inverse function, which converts a filter's result to an intensity. The
  /// intensity may lie beyond a clipping limit (clip_limits()).
  const SampleCurve& inverse() const { return inverse_; }
  /// Returns the clipping limits of samples and results (core/clip_limits.h).
  const ClipLimits& clip_limits() const { return clip_limits_; }
  /// Returns the standard deviation of unclipped stabilised noise, on the 0..255 scale. Clipped
  /// samples have weaker noise.
  float sigma() const { return sigma_; }

 private:
  SampleCurve forward_, inverse_;
  ClipLimits clip_limits_;
  float sigma_ = 0;
};

/// The stabilisers of a frame's planes. Null: the plane is not stabilised.
using Stabilisers = std::array<std::shared_ptr<const Stabiliser>, 3>;

/// Returns the PlaneNoise::sigma with which filters remove exactly the noise of `curve`.
[[nodiscard]] float stabilised_sigma(const NoiseCurve& curve);

}  // namespace lull
