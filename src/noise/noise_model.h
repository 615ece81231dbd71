#pragma once
// What is known of the noise of a clip: decided once, before a session opens, and handed to whoever
// needs a threshold, a Wiener factor or a distance.

#include <array>
#include <limits>
#include <memory>

namespace lull {

/// Lags of an autocorrelation along an axis: -reach .. reach.
inline constexpr int correlation_reach = 7;
inline constexpr int correlation_lags = 2 * correlation_reach + 1;

/// The autocorrelation of stationary noise in units of its variance: element lag_index(dx, dy) is
/// the correlation of samples (dx, dy) apart; 1 in the middle, and the same at (-dx, -dy).
using Autocorrelation = std::array<float, correlation_lags * correlation_lags>;

constexpr bool within_lags(int dx, int dy) {
  return dx >= -correlation_reach && dx <= correlation_reach && dy >= -correlation_reach &&
         dy <= correlation_reach;
}
constexpr int lag_index(int dx, int dy) {
  return (dy + correlation_reach) * correlation_lags + dx + correlation_reach;
}

/// How strong the noise of a plane is by intensity, and what is clipped.
struct NoiseCurve {
  static constexpr int knots = 33;
  static constexpr float spacing = 255.0f / (knots - 1);
  /// Standard deviation at i * spacing on the 0..255 scale, > 0; linear in between. It is that of
  /// the noise before samples are clipped.
  std::array<float, knots> sigma{};
  /// Samples end here (low < high, low < 255, high > 0), and what noise would carry beyond lies
  /// there (Foi 2009, "Clipped noisy images", doi:10.1016/j.sigpro.2009.04.035); infinite: nothing
  /// is clipped.
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();

  float at(float intensity) const;
  /// The root of the mean square over the scale.
  float level() const;
};

/// The noise of one plane.
struct PlaneNoise {
  /// Standard deviation on the 0..255 scale, >= 0, that filters take. A plane with 0 passes through
  /// unchanged. With a curve it is that of stabilised samples, which stay within 0..255:
  /// stabilised_sigma(*curve) for the noise that the curve says, more or less for more or less to
  /// be taken away.
  float sigma = 0;
  /// Null: white noise.
  std::shared_ptr<const Autocorrelation> correlation;
  /// Null: the same at every intensity, and nothing is clipped. With a curve, filters see samples
  /// that are stabilised by it (stabiliser.h), in which the noise is what the members above say.
  std::shared_ptr<const NoiseCurve> curve;

  bool is_white() const { return correlation == nullptr; }
  /// Of the noise in samples as they are stored: what they are compared with where nothing is
  /// stabilised (repetitions, scenes, motion). 0 where the plane passes through.
  float level_in_samples() const { return sigma > 0 && curve ? curve->level() : sigma; }
  /// Of samples (dx, dy) apart; 0 beyond the lags.
  double correlation_at(int dx, int dy) const {
    if (!within_lags(dx, dy)) return 0;
    if (is_white()) return dx == 0 && dy == 0 ? 1 : 0;
    return static_cast<double>((*correlation)[lag_index(dx, dy)]);
  }
};

/// The noise of each plane as it is stored (Y, Cb, Cr or R, G, B), independent from plane to plane,
/// unless it is said for the opponent space, in which R, G and B are filtered.
class NoiseModel {
 public:
  NoiseModel() = default;
  /// White noise. (Not explicit: three levels are a noise model.)
  NoiseModel(const std::array<float, 3>& sigma);
  /// Of RGB whose channels share noise, as cameras' do: that of Y, U and V of the opponent space.
  /// The levels of R, G and B are those that follow if Y, U and V share none.
  [[nodiscard]] static NoiseModel of_opponents(const std::array<PlaneNoise, 3>& opponents);

  const PlaneNoise& plane(int i) const { return planes_[i]; }
  PlaneNoise& plane(int i) { return planes_[i]; }
  float sigma(int i) const { return planes_[i].sigma; }
  std::array<float, 3> sigmas() const;
  std::array<float, 3> levels_in_samples() const;
  /// Whether any plane with noise has one.
  bool has_curves() const;
  /// As far as there is any: planes with a sigma of 0 do not count.
  bool is_white() const;

  /// That of Y, U and V of the opponent colour space (colour.h), for that of R, G and B.
  [[nodiscard]] NoiseModel in_opponent_space() const;
  /// Whether it was given so.
  bool is_of_opponents() const { return opponents_ != nullptr; }

 private:
  std::array<PlaneNoise, 3> planes_;
  std::shared_ptr<const std::array<PlaneNoise, 3>> opponents_;
};

/// For `strength` times the noise, a number above 0: what a user asks for who wants less or more
/// taken away. Curves stay, as they say how samples are stabilised.
[[nodiscard]] NoiseModel scaled(const NoiseModel& noise, float strength);

/// @throws InvalidArgument  a sigma that is no number from 0, or a correlation or curve that is
/// none
void validate(const NoiseModel& noise);

}  // namespace lull
