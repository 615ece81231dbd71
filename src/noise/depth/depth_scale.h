#pragma once
// Converts depth maps (distances, disparities, ranges) to samples on the 0..255 scale whose noise
// level is the same everywhere, and back. Determines which samples are holes.

#include <optional>
#include <vector>

#include "core/frame.h"
#include "noise/holes.h"

namespace lull {

/// Dependence of the noise level on the depth.
enum class DepthNoise {
  constant,  // the level is the same everywhere
  // The noise level is proportional to the square of the depth, as in triangulation (stereo,
  // structured light).
  squared
};

/// Meaning of the samples of a depth map, and the values of holes.
struct DepthSamples {
  double zero = 0, unit = 1;  // sample s is the depth zero + unit * s
  // Depth that marks a hole, in addition to values that are not finite.
  std::optional<double> invalid = {};
  DepthNoise noise = DepthNoise::constant;  // squared: depths of 0 and below are also holes

  /// Returns one value per sample, row by row. The value is true for a hole.
  [[nodiscard]] std::vector<bool> holes_of(const Frame& frame) const;
  /// Returns the depth of a sample; arbitrary for a hole.
  double depth(double sample) const { return zero + unit * sample; }
  bool is_hole(double sample) const;
};

/// A scale of 0..255 for depths on which the noise level is the same at all depths. For a noise
/// level that grows with the square of the depth, sigma(z) = sigma (z / reference)^2, the scale is
/// linear in e = reference^2 / z, because the noise of e has the standard deviation sigma (to first
/// order). For constant noise, e is z.
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
  /// Returns the depth for a result of the filter, which is an estimate of E[e]. To second order,
  /// E[e] = e0 + sigma^2 / e0, where e0 is the value without noise; the function solves this
  /// equation for e0. Results below 2 sigma have no solution, and the function returns the depth
  /// for e0 = sigma.
  double inverse(double stabilised) const;

 private:
  bool is_squared() const { return samples.noise == DepthNoise::squared; }
};

/// Statistics of the depths of some frames, over all samples except holes.
class DepthStatistics {
 public:
  explicit DepthStatistics(const DepthSamples& samples) : samples_(samples) {}

  /// Adds a grey frame in host memory.
  void add(const Frame& frame);
  bool empty() const { return depths_.empty(); }
  /// Returns the share of all samples that are holes.
  double share_of_holes() const;
  double median() const;
  double min_depth() const;
  double max_depth() const;
  /// Returns the depth below which the share `share` (0 to 1) of all depths lies.
  double quantile(double share) const;

  /// Returns the scale for noise of the level `sigma`, in the unit of depths; 0: no noticeable
  /// noise. The samples 0 and 255 stand for the quantiles at 0.1 % and 99.9 % of all depths. If
  /// these quantiles are less than 8 sigma apart, the scale spans 8 sigma. (Filters accept samples
  /// from about -128 to 383; depths outside this range are preserved unchanged:
  /// core/float_range.h.)
  /// @param reference  reference depth; empty: the median depth
  DepthScale scale(double sigma, std::optional<double> reference) const;

 private:
  DepthSamples samples_;
  mutable std::vector<float> depths_;  // depths of samples that are no holes, in any order
  double all_ = 0;
};

}  // namespace lull
