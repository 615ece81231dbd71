#pragma once
// Generates coloured noise and its autocorrelation.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <random>

#include "core/plane.h"
#include "noise/noise_model.h"

namespace lull::test_support {

struct ColouredNoise {
  Plane<float> samples;
  float sigma = 0;
  std::shared_ptr<const Autocorrelation> correlation;
};

/// Returns white noise blurred by [1 2 1] along the given axes, with the standard deviation
/// `sigma`.
inline ColouredNoise blurred_noise(int width, int height, float sigma, bool along_x, bool along_y,
                                   unsigned seed = 5) {
  // [1 2 1] has the autocorrelation 1 4 6 4 1, divided by 6.
  constexpr double taps[3] = {1 / std::sqrt(6.0), 2 / std::sqrt(6.0), 1 / std::sqrt(6.0)};
  constexpr double blurred[3] = {1, 4.0 / 6, 1.0 / 6};
  const auto correlation_at = [&](int lag, bool along) {
    lag = std::abs(lag);
    return lag == 0 ? 1.0 : along && lag < 3 ? blurred[lag] : 0.0;
  };
  ColouredNoise noise{Plane<float>(width, height), sigma, nullptr};
  auto correlation = std::make_shared<Autocorrelation>();
  for (int dy = -correlation_reach; dy <= correlation_reach; ++dy)
    for (int dx = -correlation_reach; dx <= correlation_reach; ++dx)
      (*correlation)[lag_index(dx, dy)] =
          static_cast<float>(correlation_at(dx, along_x) * correlation_at(dy, along_y));
  noise.correlation = std::move(correlation);
  std::mt19937 rng{seed};
  std::normal_distribution<double> normal{0, 1};
  Plane<float> white(width + 2, height + 2);
  for (int y = 0; y < height + 2; ++y)
    for (int x = 0; x < width + 2; ++x) white.view()(x, y) = static_cast<float>(normal(rng));
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      double sum = 0;
      for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i)
          sum += (along_x ? taps[i] : i == 1) * (along_y ? taps[j] : j == 1) *
                 static_cast<double>(white.view()(x + i, y + j));
      noise.samples.view()(x, y) = static_cast<float>(sum * static_cast<double>(sigma));
    }
  return noise;
}

/// Returns white noise averaged over squares of `side` samples, with the standard deviation
/// `sigma`.
inline ColouredNoise averaged_noise(int width, int height, float sigma, int side,
                                    unsigned seed = 5) {
  ColouredNoise noise{Plane<float>(width, height), sigma, nullptr};
  const auto along = [&](int lag) {
    return static_cast<float>(std::max(0, side - std::abs(lag))) / static_cast<float>(side);
  };
  auto correlation = std::make_shared<Autocorrelation>();
  for (int dy = -correlation_reach; dy <= correlation_reach; ++dy)
    for (int dx = -correlation_reach; dx <= correlation_reach; ++dx)
      (*correlation)[lag_index(dx, dy)] = along(dx) * along(dy);
  noise.correlation = std::move(correlation);
  std::mt19937 rng{seed};
  std::normal_distribution<double> normal{0, 1};
  Plane<float> white(width + side, height + side);
  for (int y = 0; y < height + side; ++y)
    for (int x = 0; x < width + side; ++x) white.view()(x, y) = static_cast<float>(normal(rng));
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      double sum = 0;
      for (int j = 0; j < side; ++j)
        for (int i = 0; i < side; ++i) sum += static_cast<double>(white.view()(x + i, y + j));
      noise.samples.view()(x, y) = static_cast<float>(sum / side * static_cast<double>(sigma));
    }
  return noise;
}

/// Returns noise with the maximum correlation reach, stronger along one diagonal than along the
/// other: white noise averaged over lines of 8 samples with slope 1, plus white noise.
inline std::shared_ptr<const Autocorrelation> slanted_correlation() {
  auto correlation = std::make_shared<Autocorrelation>();
  for (int d = -correlation_reach; d <= correlation_reach; ++d)
    (*correlation)[lag_index(d, d)] =
        d == 0 ? 1.0f : 0.9f * (1 - static_cast<float>(std::abs(d)) / 8);
  return correlation;
}

inline Plane<float> sum_of(PlaneView<const float> a, PlaneView<const float> b) {
  Plane<float> sum(a.width, a.height);
  for (int y = 0; y < a.height; ++y)
    for (int x = 0; x < a.width; ++x) sum.view()(x, y) = a(x, y) + b(x, y);
  return sum;
}

}  // namespace lull::test_support
