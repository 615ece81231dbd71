// Tests of the noise search and of the variance stabilisation of sensors.

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "raw/noise_search.h"
#include "raw/sensor_vst.h"
#include "support/raw_scenes.h"

namespace lull::raw {
namespace {

using namespace lull::test_support;

/// A ramp from dark to bright. Two thirds of it are textured.
double textured_ramp(int colour, int x, int y) {
  const double light = 0.004 + 0.45 * x / 640.0;
  const double texture =
      0.3 * std::sin(0.7 * x + 0.4 * y) + ((x / 4 + y / 7) % 2 == 0 ? 0.2 : -0.2);
  return light * (y % 150 < 50 ? 1 : 1 + texture) * (1 - 0.2 * colour);
}

TEST(SensorNoiseSearch, FindsGainAndOffsetOfATexturedSceneWithinTenPercent) {
  const Sensor sensor = test_sensor({1, 2, 0, 1});
  for (const SensorNoise noise : {SensorNoise{0.003, 2e-5}, SensorNoise{0.0006, 1e-5}}) {
    const Frame mosaic = make_mosaic(sensor, noise, 640, 450, 1, textured_ramp);
    const auto found = find_noise(mosaic.plane<std::uint16_t>(0), sensor);
    ASSERT_TRUE(found);
    for (const double x : {0.02, 0.1, 0.2, 0.4})
      EXPECT_NEAR(found->variance(x) / noise.variance(x), 1, 0.1) << noise.gain << " at " << x;
    EXPECT_NEAR(found->gain / noise.gain, 1, 0.1);
  }
}

TEST(SensorNoiseSearch, FindsNothingInAMosaicWithoutNoise) {
  const Sensor sensor = test_sensor();
  const Frame mosaic = make_mosaic(sensor, {0, 0}, 256, 256, 1, [](int, int, int) { return 0.3; });
  EXPECT_FALSE(find_noise(mosaic.plane<std::uint16_t>(0), sensor));
}

TEST(SensorNoiseSearch, FindsNothingInAClippedMosaic) {
  const Sensor sensor = test_sensor();
  const Frame mosaic =
      make_mosaic(sensor, {0.001, 1e-6}, 256, 256, 1, [](int, int, int) { return 1.5; });
  EXPECT_FALSE(find_noise(mosaic.plane<std::uint16_t>(0), sensor));
}

/// Mean and standard deviation of stabilised samples of a colour.
std::pair<double, double> stabilised_moments(const Sensor& sensor, const SensorVst& vst, int colour,
                                             const SensorNoise& noise, double x) {
  std::mt19937 rng(3);
  std::normal_distribution<double> normal(x, std::sqrt(noise.variance(x)));
  double sum = 0, square = 0;
  constexpr int count = 200000;
  const double lowest = -static_cast<double>(sensor.black[0] / (sensor.white - sensor.black[0]));
  for (int i = 0; i < count; ++i) {
    const double v = static_cast<double>(
        vst.forward(colour, static_cast<float>(std::clamp(normal(rng), lowest, 1.0))));
    sum += v;
    square += v * v;
  }
  return {sum / count, std::sqrt(square / count - sum / count * sum / count)};
}

TEST(SensorVst, InverseOfTheMeanIsTheLightOfAllColours) {
  const Sensor sensor = test_sensor();
  const SensorNoise noise{0.004, 3e-5};
  const Frame mosaic = make_scene_mosaic(sensor, noise, 128, 128);
  const SensorVst vst(sensor, {noise, noise, noise}, mosaic.plane<std::uint16_t>(0));
  for (int c = 0; c < 3; ++c)
    for (const double x : {0.002, 0.01, 0.05, 0.2, 0.6, 0.95}) {
      const double mean = stabilised_moments(sensor, vst, c, noise, x).first;
      const double error = static_cast<double>(vst.inverse(c)(static_cast<float>(mean))) - x;
      EXPECT_LT(std::abs(error), 0.012 * std::sqrt(noise.variance(x))) << c << " at " << x;
    }
}

TEST(SensorVst, StabilisedNoiseHasTheStatedLevel) {
  const Sensor sensor = test_sensor();
  const SensorNoise noise{0.002, 4e-6};
  const Frame mosaic = make_scene_mosaic(sensor, noise, 128, 128);
  const SensorVst vst(sensor, {noise, noise, noise}, mosaic.plane<std::uint16_t>(0));
  for (int c = 0; c < 3; ++c)
    for (const double x : {0.05, 0.15, 0.4})
      EXPECT_NEAR(
          stabilised_moments(sensor, vst, c, noise, x).second / static_cast<double>(vst.sigma()[c]),
          1, 0.06)
          << c << " at " << x;
}

TEST(SensorVst, GreyHasOneStabilisedValue) {
  const Sensor sensor = test_sensor();
  const SensorNoise noise{0.002, 4e-6};
  const Frame mosaic = make_scene_mosaic(sensor, noise, 64, 64);
  const SensorVst vst(sensor, {noise, noise, noise}, mosaic.plane<std::uint16_t>(0));
  EXPECT_FLOAT_EQ(vst.forward(0, 0.15f), vst.forward(1, 0.3f));
  EXPECT_NEAR(vst.forward(2, 0.3f / 1.6f), vst.forward(1, 0.3f), 1e-3f);
}

}  // namespace
}  // namespace lull::raw
