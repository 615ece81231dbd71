#pragma once
// The noise of a clip. The caller estimates or specifies the noise before it opens a session.
// Filters compute thresholds, Wiener factors and distances from the noise.

#include <array>
#include <limits>
#include <memory>

namespace lull {

/// Lags of an autocorrelation along an axis: -reach .. reach.
inline constexpr int correlation_reach = 7;
inline constexpr int correlation_lags = 2 * correlation_reach + 1;

/// The autocorrelation of stationary noise, relative to its variance. The element at lag_index(dx,
/// dy) is the correlation of two samples with the displacement (dx, dy), and equals the element at
/// (-dx, -dy). The element at (0, 0) is 1.
using Autocorrelation = std::array<float, correlation_lags * correlation_lags>;

constexpr bool within_lags(int dx, int dy) {
  return dx >= -correlation_reach && dx <= correlation_reach && dy >= -correlation_reach &&
         dy <= correlation_reach;
}
constexpr int lag_index(int dx, int dy) {
  return (dy + correlation_reach) * correlation_lags + dx + correlation_reach;
}

/// Noise level of a plane as a function of the intensity, and clipping limits of the plane.
struct NoiseCurve {
  static constexpr int knots = 33;
  static constexpr float spacing = 255.0f / (knots - 1);
  /// Standard deviations of the noise before clipping, > 0. Element i is for the intensity i *
  /// spacing on the 0..255 scale. Between these intensities, the standard deviation follows by
  /// linear interpolation.
  std::array<float, knots> sigma{};
  /// Clipping limits (low < high, low < 255, high > 0). Noisy samples beyond a limit get the value
  /// of the limit (Foi 2009, "Clipped noisy images", doi:10.1016/j.sigpro.2009.04.035). An infinite
  /// limit clips nothing.
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();

  float at(float intensity) const;
  /// Returns the root mean square of the noise curve over the 0..255 scale.
  float level() const;
};

/// The noise of one plane.
struct PlaneNoise {
  /// Standard deviation of the noise that filters remove, on the 0..255 scale, >= 0. 0: the session
  /// does not filter the plane. With a noise curve, sigma refers to the stabilised samples. If
  /// sigma is stabilised_sigma(*curve), filters remove exactly the noise of the curve. With a
  /// larger sigma, filters remove more noise.
  float sigma = 0;
  /// Autocorrelation of the noise. Null: the noise is white.
  std::shared_ptr<const Autocorrelation> correlation;
  /// Noise level as a function of the intensity. Null: a constant noise level without clipping.
  /// With a curve, filters process variance-stabilised samples (stabiliser.h), and `sigma` and
  /// `correlation` describe the noise of the stabilised samples.
  std::shared_ptr<const NoiseCurve> curve;

  bool is_white() const { return correlation == nullptr; }
  /// Returns the noise level of the stored samples, without variance stabilisation. The detection
  /// of repeated frames, scene cuts and motion uses this level. The result is 0 if the session does
  /// not filter the plane.
  float level_in_samples() const { return sigma > 0 && curve ? curve->level() : sigma; }
  /// Returns the correlation of the noise of two samples with the displacement (dx, dy). Beyond the
  /// lags of the autocorrelation, the result is 0.
  double correlation_at(int dx, int dy) const {
    if (!within_lags(dx, dy)) return 0;
    if (is_white()) return dx == 0 && dy == 0 ? 1 : 0;
    return static_cast<double>((*correlation)[lag_index(dx, dy)]);
  }
};

/// The noise of each stored plane (Y, Cb, Cr or R, G, B). The noise of different planes is
/// independent, except in a model from of_opponents().
class NoiseModel {
 public:
  NoiseModel() = default;
  /// Makes a model of white noise. The constructor is not explicit, so that callers can pass three
  /// noise levels as a noise model.
  NoiseModel(const std::array<float, 3>& sigma);
  /// Makes a model of noise that is correlated between R, G and B, as in camera pictures. The
  /// argument is the noise of Y, U and V of the opponent space. The function computes the noise
  /// levels of R, G and B as if the noise of Y, U and V were independent.
  [[nodiscard]] static NoiseModel of_opponents(const std::array<PlaneNoise, 3>& opponents);

  const PlaneNoise& plane(int i) const { return planes_[i]; }
  PlaneNoise& plane(int i) { return planes_[i]; }
  float sigma(int i) const { return planes_[i].sigma; }
  std::array<float, 3> sigmas() const;
  std::array<float, 3> levels_in_samples() const;
  /// Returns whether any plane with noise has a noise curve.
  bool has_curves() const;
  /// Returns whether the noise of all planes with a sigma above 0 is white.
  bool is_white() const;

  /// Converts a model of the noise of R, G and B to the noise of Y, U and V of the opponent space
  /// (colour.h).
  [[nodiscard]] NoiseModel in_opponent_space() const;
  /// Returns whether of_opponents() made this model.
  bool is_of_opponents() const { return opponents_ != nullptr; }

 private:
  std::array<PlaneNoise, 3> planes_;
  std::shared_ptr<const std::array<PlaneNoise, 3>> opponents_;
};

/// Multiplies the sigma of each plane by the denoising strength, > 0. Noise curves do not change,
/// because the curves define the variance stabilisation.
[[nodiscard]] NoiseModel scaled(const NoiseModel& noise, float strength);

/// Checks a noise model.
/// @throws InvalidArgument  a sigma is negative or not finite, or a correlation or curve is invalid
void validate(const NoiseModel& noise);

}  // namespace lull
