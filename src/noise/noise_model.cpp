#include "noise/noise_model.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "core/colour.h"
#include "core/error.h"

namespace lull {
namespace {

/// That of a weighted sum of independent noises with these variances.
std::shared_ptr<const Autocorrelation> mixed(const std::array<PlaneNoise, 3>& planes,
                                             const std::array<double, 3>& variances) {
  double whole = 0;
  for (const double variance : variances) whole += variance;
  if (whole == 0) return nullptr;
  auto sum = std::make_shared<Autocorrelation>();
  for (int dy = -correlation_reach; dy <= correlation_reach; ++dy)
    for (int dx = -correlation_reach; dx <= correlation_reach; ++dx) {
      double value = 0;
      for (int c = 0; c < 3; ++c) value += variances[c] / whole * planes[c].correlation_at(dx, dy);
      (*sum)[lag_index(dx, dy)] = static_cast<float>(value);
    }
  return sum;
}

}  // namespace

NoiseModel::NoiseModel(const std::array<float, 3>& sigma) {
  for (int i = 0; i < 3; ++i) planes_[i].sigma = sigma[i];
}

std::array<float, 3> NoiseModel::sigmas() const {
  return {planes_[0].sigma, planes_[1].sigma, planes_[2].sigma};
}

bool NoiseModel::is_white() const { return std::ranges::all_of(planes_, &PlaneNoise::is_white); }

NoiseModel NoiseModel::in_opponent_space() const {
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

void validate(const NoiseModel& noise) {
  for (int i = 0; i < 3; ++i) {
    const PlaneNoise& plane = noise.plane(i);
    if (!(plane.sigma >= 0) || !std::isfinite(plane.sigma)) {
      char number[32];
      std::snprintf(number, sizeof number, "%g", static_cast<double>(plane.sigma));
      throw InvalidArgument("sigma = " + std::string(number) +
                            " (must be a number from 0); choose one in range");
    }
    if (plane.is_white()) continue;
    const auto& lags = *plane.correlation;
    const bool fits = lags[lag_index(0, 0)] == 1 &&
                      std::ranges::all_of(lags, [](float r) { return r >= -1 && r <= 1; });
    if (!fits)
      throw InvalidArgument(
          "an autocorrelation of noise (must be 1 in the middle and within -1..1); divide it by "
          "the "
          "variance");
  }
}

}  // namespace lull
