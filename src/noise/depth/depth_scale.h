#pragma once
// Converts depth maps (distances, disparities, ranges) to samples on the 0..255 scale, and back. On
// this scale, the noise level is the same at all depths. This file also defines which samples are
// holes.

#include <optional>
#include <vector>

#include "core/frame.h"
#include "noise/holes.h"

namespace lull {

/// Dependence of the noise level on the depth.
enum class DepthNoise {
  constant,  // the level is the same everywhere
  // The noise level is proportional to the square of the depth, as in stereo and structured light.
  squared
};

/// The meaning of the samples of a depth map, and the values that mark holes.
struct DepthSamples {
  double zero = 0, unit = 1;  // sample s is the depth zero + unit * s
  // Depth that marks a hole. Values that are not finite are always holes.
  std::optional<double> invalid = {};
  DepthNoise noise = DepthNoise::constant;  // squared: depths of 0 and below are also holes

  /// Returns one flag per sample of the depth map, row by row. The flag is true for a hole.
  [[nodiscard]] std::vector<bool> holes_of(const Frame& frame) const;
  /// Returns the depth of a sample. For a hole, the result is arbitrary.
  double depth(double sample) const { return zero + unit * sample; }
  bool is_hole(double sample) const;
};

/// A 0..255 scale for depths, on which the noise level is the same at all depths. The scale is a
/// linear function of a value e, which depends on the depth z. For constant noise, e is z. For a
/// noise level of sigma * (z / reference)^2, e is reference^2 / z. In both cases, the standard
/// deviation of the noise of e is sigma, to first order.
struct DepthScale {
  DepthSamples samples;
  double reference = 1;      // squared: the depth at which the noise level is sigma
  double low = 0, span = 1;  // e at 0, and difference of e between 0 and 255
  double sigma = 0;          // noise level in the unit of depths; 0: unknown

  /// Returns the noise level on the 0..255 scale.
  double level() const { return sigma / span * 255; }
  double forward(double depth) const {
    const double e = is_squared() ? reference * reference / depth : depth;
    return (e - low) / span * 255;
  }
  /// Converts a result of the filter, which is an estimate of E[e], to a depth. For noise that
  /// grows with z^2, E[e] = e0 + sigma^2 / e0 to second order, where e0 is e without noise. The
  /// function solves this equation for e0. Results below 2 * sigma have no solution, and give e0 =
  /// sigma.
  double inverse(double stabilised) const;

 private:
  bool is_squared() const { return samples.noise == DepthNoise::squared; }
};

/// Statistics of the depths in some frames. Holes (DepthSamples::is_hole()) have no depth. Only
/// share_of_holes() counts holes, and all other functions ignore them.
class DepthStatistics {
 public:
  explicit DepthStatistics(const DepthSamples& samples) : samples_(samples) {}

  /// Adds the depths of a grey frame in host memory.
  void add(const Frame& frame);
  bool empty() const { return depths_.empty(); }
  /// Returns the share of all samples that are holes.
  double share_of_holes() const;
  double median() const;
  double min_depth() const;
  double max_depth() const;
  /// Returns the quantile of all depths at `share`, which is 0 to 1.
  double quantile(double share) const;

  /// Returns a scale for depths with noise of the level `sigma`, in the unit of depths. A `sigma`
  /// of 0 means that the noise is not noticeable. The samples 0 and 255 represent the quantiles of
  /// the depths at 0.1 % and 99.9 %, or a range of 8 * sigma if the quantiles are closer together.
  /// Sessions preserve depths outside the filter range (core/float_range.h).
  /// @param reference  reference depth; empty: the median depth
  DepthScale scale(double sigma, std::optional<double> reference) const;

 private:
  DepthSamples samples_;
  mutable std::vector<float> depths_;  // depths of samples that are no holes, in any order
  double all_ = 0;
};

}  // namespace lull
