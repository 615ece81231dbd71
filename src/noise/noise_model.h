#pragma once
// What is known of the noise of a clip: decided once, before a session opens, and handed to whoever
// needs a threshold, a Wiener factor or a distance.

#include <array>
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

/// The noise of one plane.
struct PlaneNoise {
  /// Standard deviation on the 0..255 scale, >= 0. A plane with 0 passes through unchanged.
  float sigma = 0;
  /// Null: white noise.
  std::shared_ptr<const Autocorrelation> correlation;

  bool is_white() const { return correlation == nullptr; }
  /// Of samples (dx, dy) apart; 0 beyond the lags.
  double correlation_at(int dx, int dy) const {
    if (!within_lags(dx, dy)) return 0;
    if (is_white()) return dx == 0 && dy == 0 ? 1 : 0;
    return static_cast<double>((*correlation)[lag_index(dx, dy)]);
  }
};

/// The noise of each plane as it is stored (Y, Cb, Cr or R, G, B), independent from plane to plane.
class NoiseModel {
 public:
  NoiseModel() = default;
  /// White noise. (Not explicit: three levels are a noise model.)
  NoiseModel(const std::array<float, 3>& sigma);

  const PlaneNoise& plane(int i) const { return planes_[i]; }
  PlaneNoise& plane(int i) { return planes_[i]; }
  float sigma(int i) const { return planes_[i].sigma; }
  std::array<float, 3> sigmas() const;
  /// As far as there is any: planes with a sigma of 0 do not count.
  bool is_white() const;

  /// That of Y, U and V of the opponent colour space (colour.h), for that of R, G and B.
  [[nodiscard]] NoiseModel in_opponent_space() const;

 private:
  std::array<PlaneNoise, 3> planes_;
};

/// @throws InvalidArgument  a sigma that is no number from 0, or a correlation that is none
void validate(const NoiseModel& noise);

}  // namespace lull
