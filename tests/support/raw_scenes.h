#pragma once
// Mosaics of a synthetic scene with known noise.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>

#include "core/frame_pool.h"
#include "core/plane.h"
#include "raw/sensor.h"

namespace lull::test_support {

/// Scaled value of a colour of the scene at a site: smooth areas, edges and textures. White light
/// has equal balanced values.
inline double scene_light(const raw::Sensor& sensor, int colour, int x, int y) {
  double v = 0.16 + 0.1 * std::sin(0.021 * x + 0.4) * std::cos(0.017 * y);
  if (std::hypot(x - 70, y - 60) < 36) v += 0.22;
  if (x > 110 && (x / 5 + y / 9) % 2 == 0) v *= 0.55;
  v += 0.02 * std::sin(0.9 * x + 0.5 * y) * (y > 100 ? 1 : 0);
  const std::array<double, 3> tint{1 + 0.25 * std::sin(0.013 * y), 1,
                                   1 - 0.2 * std::sin(0.016 * x)};
  return v * tint[colour] / static_cast<double>(sensor.balance[colour]);
}

inline FrameFormat mosaic_format(int width, int height) {
  return {.width = width,
          .height = height,
          .layout = Layout::gray,
          .sample = SampleType::u16,
          .bits = 16};
}

/// Returns the samples of light(colour, x, y) with Gaussian noise, rounded and clipped.
template <class Light>
Frame make_mosaic(const raw::Sensor& sensor, const raw::SensorNoise& noise, int width, int height,
                  unsigned seed, const Light& light) {
  FramePool pool(mosaic_format(width, height));
  Frame frame = pool.acquire();
  std::mt19937 rng(seed);
  std::normal_distribution<double> normal;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const double value = light(sensor.pattern.at(x, y), x, y);
      const double noisy = value + std::sqrt(noise.variance(value)) * normal(rng);
      const auto black = static_cast<double>(sensor.black_at(x, y)),
                 white = static_cast<double>(sensor.white);
      frame.plane<std::uint16_t>(0)(x, y) = static_cast<std::uint16_t>(
          std::lround(std::clamp(black + noisy * (white - black), 0.0, white)));
    }
  return frame;
}

inline Frame make_scene_mosaic(const raw::Sensor& sensor, const raw::SensorNoise& noise, int width,
                               int height, unsigned seed = 1) {
  return make_mosaic(sensor, noise, width, height, seed,
                     [&](int colour, int x, int y) { return scene_light(sensor, colour, x, y); });
}

/// A sensor as in cameras: 14 bits, black at 512.
inline raw::Sensor test_sensor(std::array<std::uint8_t, 4> colours = {0, 1, 1, 2}) {
  return {
      .pattern = {colours}, .black = {512, 512, 512, 512}, .white = 16383, .balance = {2, 1, 1.6f}};
}

}  // namespace lull::test_support
