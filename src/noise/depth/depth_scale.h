#pragma once
// Depth maps (distances, disparities, ranges) for filters of white Gaussian noise of one level:
// which samples are holes, how values become samples on the 0..255 scale, and the way back.

#include <optional>
#include <vector>

#include "core/frame.h"
#include "noise/holes.h"

namespace lull {

/// How the noise of a depth grows with it.
enum class DepthNoise {
  constant,  // everywhere the same
  squared    // with the square of the depth, as where it is triangulated: stereo, structured light
};

/// What the samples of a depth map stand for, and what holes look like.
struct DepthSamples {
  double zero = 0, unit = 1;           // a sample s is the depth zero + unit * s
  std::optional<double> invalid = {};  // the depth that marks a hole, beside what is not finite
  DepthNoise noise = DepthNoise::constant;  // squared: depths of 0 and below are holes, too

  /// Row by row.
  [[nodiscard]] std::vector<bool> holes_of(const Frame& frame) const;
  /// Of a sample; of a hole anything.
  double depth(double sample) const { return zero + unit * sample; }
  bool is_hole(double sample) const;
};

/// The variable in which noise is even, on the 0..255 scale. With noise that grows with the square
/// of the depth, sigma(z) = sigma (z / reference)^2, this is e = reference^2 / z, whose noise has
/// the standard deviation sigma at all depths (to first order); else z itself.
struct DepthScale {
  DepthSamples samples;
  double reference = 1;      // squared: the depth whose noise is sigma
  double low = 0, span = 1;  // e of 0, and from there to 255
  double sigma = 0;          // of the noise, in the depth's unit; 0: not known

  /// Of the noise on the 0..255 scale.
  double level() const { return sigma / span * 255; }
  double forward(double depth) const {
    const double e = is_squared() ? reference * reference / depth : depth;
    return (e - low) / span * 255;
  }
  /// Of what a filter makes of it, a mean: that of 1 / z over the noise of z is greater than 1 over
  /// the mean of z, E[e] = e0 + sigma^2 / e0 with the second term of its series, which is solved
  /// for e0. (Where the noise is half of the depth or more, e0 is least.)
  double inverse(double even) const;

 private:
  bool is_squared() const { return samples.noise == DepthNoise::squared; }
};

/// What the depths of some frames are: from all samples that are no holes.
class DepthLook {
 public:
  explicit DepthLook(const DepthSamples& samples) : samples_(samples) {}

  /// A grey frame in the host's memory.
  void add(const Frame& frame);
  bool empty() const { return depths_.empty(); }
  /// Of all samples.
  double share_of_holes() const;
  double median() const;
  double least() const;
  double greatest() const;
  /// The depth that this share of all, 0 to 1, lies below.
  double quantile(double share) const;

  /// The scale for noise of `sigma`, or for no noise to speak of: 0 and 255 are what a thousandth
  /// of all is below and above, at least 8 sigma apart, so that results do not depend on the unit
  /// of depths. (Filters see half as much again on either side; what lies beyond comes out as it
  /// is: core/float_range.h.) @param reference  empty: the median
  DepthScale scale(double sigma, std::optional<double> reference) const;

 private:
  DepthSamples samples_;
  mutable std::vector<float> depths_;  // of samples that are no holes; in any order
  double all_ = 0;
};

}  // namespace lull
