#include "noise/noise_model.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "core/colour.h"
#include "core/error.h"

namespace lull {
namespace {

/// Returns the autocorrelation of a weighted sum of independent noise of several planes, or null if
/// the noise of the sum is white. `variances` contains the variance of each term of the sum.
std::shared_ptr<const Autocorrelation> mixed(const std::array<PlaneNoise, 3>& planes,
                                             const std::array<double, 3>& variances) {
  double whole = 0;
  bool white = true;
  for (int c = 0; c < 3; ++c) {
    whole += variances[c];
    white &= variances[c] == 0 || planes[c].is_white();
  }
  if (white) return nullptr;
  auto sum = std::make_shared<Autocorrelation>();
  for (int dy = -correlation_reach; dy <= correlation_reach; ++dy)
    for (int dx = -correlation_reach; dx <= correlation_reach; ++dx) {
      double value = 0;
      for (int c = 0; c < 3; ++c) value += variances[c] / whole * planes[c].correlation_at(dx, dy);
      (*sum)[lag_index(dx, dy)] = static_cast<float>(value);
    }
  return sum;
}

void validate_correlation(const Autocorrelation& lags) {
  bool fits = lags[lag_index(0, 0)] == 1;
  for (std::size_t k = 0; k < lags.size(); ++k)
    fits &= std::abs(lags[k]) <= 1 && std::abs(lags[k] - lags[lags.size() - 1 - k]) < 1e-4f;
  if (!fits)
    throw InvalidArgument(
        "an invalid autocorrelation of noise (it must be 1 at lag 0, within -1..1, and equal at "
        "(dx, dy) and (-dx, -dy)); divide it by the variance");
}

void validate_curve(const NoiseCurve& curve) {
  if (!std::ranges::all_of(curve.sigma, [](float s) { return s > 0 && std::isfinite(s); }))
    throw InvalidArgument(
        "an invalid noise curve (every sigma must be finite and above 0); raise the smallest "
        "values");
  if (!(curve.low < curve.high && curve.low < 255 && curve.high > 0))
    throw InvalidArgument(
        "an invalid noise curve (clipping limits must satisfy low < high, low < 255 and high > 0); "
        "choose limits in range");
}

}  // namespace

float NoiseCurve::at(float intensity) const {
  const float place = std::clamp(intensity / spacing, 0.0f, static_cast<float>(knots - 1));
  const int below = std::min(static_cast<int>(place), knots - 2);
  return std::lerp(sigma[below], sigma[below + 1], place - static_cast<float>(below));
}

float NoiseCurve::level() const {
  double squares = 0;
  for (const float s : sigma) squares += static_cast<double>(s) * static_cast<double>(s);
  return static_cast<float>(std::sqrt(squares / knots));
}

NoiseModel::NoiseModel(const std::array<float, 3>& sigma) {
  for (int i = 0; i < 3; ++i) planes_[i].sigma = sigma[i];
}

NoiseModel NoiseModel::of_opponents(const std::array<PlaneNoise, 3>& opponents) {
  NoiseModel noise;
  std::array<double, 3> variances;
  for (int c = 0; c < 3; ++c) {
    double whole = 0;
    for (int i = 0; i < 3; ++i) {
      const double deviation =
          static_cast<double>(opponent_inverse[c][i]) * static_cast<double>(opponents[i].sigma);
      variances[i] = deviation * deviation;
      whole += variances[i];
    }
    noise.planes_[c].sigma = static_cast<float>(std::sqrt(whole));
    noise.planes_[c].correlation = mixed(opponents, variances);
  }
  noise.opponents_ = std::make_shared<const std::array<PlaneNoise, 3>>(opponents);
  return noise;
}

std::array<float, 3> NoiseModel::sigmas() const {
  return {planes_[0].sigma, planes_[1].sigma, planes_[2].sigma};
}

std::array<float, 3> NoiseModel::levels_in_samples() const {
  return {planes_[0].level_in_samples(), planes_[1].level_in_samples(),
          planes_[2].level_in_samples()};
}

bool NoiseModel::has_curves() const {
  return std::ranges::any_of(
      planes_, [](const PlaneNoise& plane) { return plane.sigma > 0 && plane.curve; });
}

bool NoiseModel::is_white() const {
  return std::ranges::all_of(
      planes_, [](const PlaneNoise& plane) { return plane.sigma == 0 || plane.is_white(); });
}

NoiseModel NoiseModel::in_opponent_space() const {
  if (opponents_) {
    NoiseModel given;
    given.planes_ = *opponents_;
    return given;
  }
  NoiseModel opponent(opponent_sigma(sigmas()));
  if (is_white()) return opponent;
  for (int i = 0; i < 3; ++i) {
    std::array<double, 3> variances;
    for (int c = 0; c < 3; ++c) {
      const double deviation =
          static_cast<double>(opponent_forward[i][c]) * static_cast<double>(planes_[c].sigma);
      variances[c] = deviation * deviation;
    }
    opponent.planes_[i].correlation = mixed(planes_, variances);
  }
  return opponent;
}

NoiseModel scaled(const NoiseModel& noise, float strength) {
  NoiseModel result = noise;
  if (noise.is_of_opponents()) {
    const NoiseModel opponents = noise.in_opponent_space();
    std::array<PlaneNoise, 3> planes;
    for (int i = 0; i < 3; ++i) {
      planes[i] = opponents.plane(i);
      planes[i].sigma *= strength;
    }
    result = NoiseModel::of_opponents(planes);
    for (int i = 0; i < 3; ++i) result.plane(i).curve = noise.plane(i).curve;
    return result;
  }
  for (int i = 0; i < 3; ++i) result.plane(i).sigma *= strength;
  return result;
}

void validate(const NoiseModel& noise) {
  for (int i = 0; i < 3; ++i) {
    const PlaneNoise& plane = noise.plane(i);
    if (!(plane.sigma >= 0) || !std::isfinite(plane.sigma)) {
      char number[32];
      std::snprintf(number, sizeof number, "%g", static_cast<double>(plane.sigma));
      throw InvalidArgument("sigma = " + std::string(number) +
                            " (must be a number from 0); choose one in range");
    }
    if (!plane.is_white()) validate_correlation(*plane.correlation);
    if (plane.curve) validate_curve(*plane.curve);
  }
}

}  // namespace lull
