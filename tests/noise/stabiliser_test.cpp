#include "noise/stabiliser.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/float_range.h"
#include "support/curved_noise.h"

namespace lull {
namespace {

using test_support::clipped;
using test_support::poissonian;

/// The moments of f(samples) of intensity y, by the midpoint rule.
struct Measured {
  double mean = 0, deviation = 0, skewness = 0;
};
Measured measure(const SampleCurve& f, const NoiseCurve& curve, double y) {
  constexpr double step = 0.005;
  double sums[4] = {};
  for (double n = -6 + step / 2; n < 6; n += step) {
    const float z = std::clamp(static_cast<float>(y + static_cast<double>(curve.at(float(y))) * n),
                               curve.low, curve.high);
    const double v = static_cast<double>(f(z)), weight = std::exp(-n * n / 2);
    sums[0] += weight;
    sums[1] += weight * v;
    sums[2] += weight * v * v;
    sums[3] += weight * v * v * v;
  }
  const double mean = sums[1] / sums[0], square = sums[2] / sums[0], cube = sums[3] / sums[0];
  const double deviation = std::sqrt(square - mean * mean);
  return {mean, deviation,
          (cube - 3 * mean * square + 2 * mean * mean * mean) / std::pow(deviation, 3)};
}

struct Case {
  const char* name;
  NoiseCurve curve;
};
std::vector<Case> cases() {
  NoiseCurve humped = poissonian(0, 9);  // like after a tone curve: the maximum is in the shadows
  for (int k = 0; k < NoiseCurve::knots; ++k)
    humped.sigma[k] += 6 * std::exp(-static_cast<float>((k - 6) * (k - 6)) / 40);
  return {{"constant", poissonian(0, 100)},
          {"photons", poissonian(0.5, 4)},
          {"more photons", poissonian(2, 9)},
          {"few photons, clipped", clipped(poissonian(4, 4))},
          {"humped", humped},
          {"constant, clipped", clipped(poissonian(0, 625))},
          {"strong, clipped", clipped(poissonian(0, 1600))}};
}

TEST(Stabiliser, KeepsTheEndsOfTheScaleAndIncreases) {
  for (const auto& [name, curve] : cases()) {
    const Stabiliser stabiliser(curve);
    const SampleCurve &f = stabiliser.forward(), &inverse = stabiliser.inverse();
    EXPECT_EQ(f(0), 0) << name;
    EXPECT_EQ(f(255), 255) << name;
    EXPECT_GE(f(filter_range_min), filter_range_min) << name;
    EXPECT_LE(f(filter_range_max), filter_range_max) << name;
    for (int k = 1; k < SampleCurve::knots; ++k) {
      EXPECT_GT(f.values[k], f.values[k - 1]) << name << ", knot " << k;
      EXPECT_GE(inverse.values[k], inverse.values[k - 1]) << name << ", knot " << k;
    }
  }
}

// Without clipping the level is constant within a few percent, except for the last two sigma. Where
// half of the samples of black are clipped, the level is stabilised by half (stabiliser.h).
TEST(Stabiliser, StabilisesTheVariance) {
  for (const auto& [name, curve] : cases()) {
    const Stabiliser stabiliser(curve);
    const bool ends = std::isfinite(curve.low);
    for (int y = 0; y <= 255; y += 3) {
      const bool far = std::min(y, 255 - y) > 2 * static_cast<double>(curve.at(float(y)));
      const double least = ends && !far ? 0.5 : far ? 0.95 : 0.9;
      const double greatest = ends ? 1.16 : far ? 1.06 : 1.1;
      const double deviation = measure(stabiliser.forward(), curve, y).deviation;
      const double ratio = deviation / static_cast<double>(stabiliser.sigma());
      EXPECT_TRUE(ratio > least && ratio < greatest) << name << " at " << y << ": " << ratio;
    }
  }
}

TEST(Stabiliser, InverseRecoversTheIntensity) {
  for (const auto& [name, curve] : cases())
    for (const double skew_bias : {0.0, 0.05}) {
      const Stabiliser stabiliser(curve, skew_bias);
      for (int y = 0; y <= 255; y += 5) {
        const Measured m = measure(stabiliser.forward(), curve, y);
        const double filtered = m.mean - skew_bias * m.deviation * m.skewness;
        EXPECT_NEAR(static_cast<double>(stabiliser.inverse()(static_cast<float>(filtered))), y,
                    0.25)
            << name << ", skew_bias " << skew_bias;
      }
    }
}

TEST(Stabiliser, IsTheIdentityForConstantNoise) {
  const Stabiliser stabiliser(poissonian(0, 100));
  EXPECT_NEAR(stabiliser.sigma(), 10, 0.01);
  for (float v = -100; v < 360; v += 3.7f) {
    EXPECT_NEAR(stabiliser.forward()(v), v, 0.01);
    EXPECT_NEAR(stabiliser.inverse()(v), v, 0.01);
  }
}

// A filter errs in both directions around the limits; results are clipped to them afterwards
// (clip_limits.h).
TEST(Stabiliser, IsLinearBeyondTheClipLimits) {
  NoiseCurve curve = poissonian(1, 100);
  curve.low = 16;
  curve.high = 235;
  const Stabiliser stabiliser(curve);
  for (const float end : {16.0f, 235.0f}) {
    const float at = static_cast<float>(measure(stabiliser.forward(), curve, end).mean);
    const auto y = [&](float beyond) { return stabiliser.inverse()(at + beyond) - end; };
    EXPECT_NEAR(y(0), 0, 0.1);
    EXPECT_NEAR(y(-3), -y(3), 1);
    EXPECT_LT(y(-3), -1);
    EXPECT_NEAR(y(end < 100 ? -6 : 6), 2 * y(end < 100 ? -3 : 3), 0.1);
  }
  EXPECT_EQ(stabiliser.clip_limits().low.at, 16);
  EXPECT_EQ(stabiliser.clip_limits().high.at, 235);
  EXPECT_TRUE(stabiliser.clip_limits().low.is_enabled() &&
              stabiliser.clip_limits().high.is_enabled());
  EXPECT_FALSE(Stabiliser(poissonian(1, 100)).clip_limits().low.is_enabled());
  EXPECT_LT(Stabiliser(poissonian(1, 100)).inverse()(-50), -5);
}

// The maximum difference that a curve may contain.
TEST(Stabiliser, AcceptsAnyValidCurve) {
  for (const bool rising : {false, true})
    for (const bool ends : {false, true}) {
      NoiseCurve curve = poissonian(0, 1e-4);
      for (int k = 0; k < NoiseCurve::knots; ++k)
        if ((k > 16) == rising) curve.sigma[k] = 200;
      const Stabiliser stabiliser(ends ? clipped(curve) : curve);
      EXPECT_TRUE(std::isfinite(stabiliser.sigma()));
      for (int k = 0; k < SampleCurve::knots; ++k) {
        EXPECT_TRUE(std::isfinite(stabiliser.forward().values[k])) << k;
        EXPECT_TRUE(std::isfinite(stabiliser.inverse().values[k])) << k;
      }
    }
}

TEST(NoiseCurve, GivesTheLevelOfSamples) {
  NoiseModel noise(std::array<float, 3>{5, 0, 5});
  EXPECT_FALSE(noise.has_curves());
  const auto curve = std::make_shared<NoiseCurve>(poissonian(1, 9));
  noise.plane(1).curve = curve;
  EXPECT_FALSE(noise.has_curves());  // the plane has no noise
  noise.plane(0).curve = curve;
  EXPECT_TRUE(noise.has_curves());
  const auto levels = noise.levels_in_samples();
  EXPECT_NEAR(levels[0], std::sqrt(127.5 + 9), 1e-3);
  EXPECT_EQ(levels[1], 0);
  EXPECT_EQ(levels[2], 5);
}

TEST(NoiseCurve, IsChecked) {
  const auto check = [](const NoiseCurve& curve) {
    NoiseModel noise(std::array<float, 3>{5, 0, 0});
    noise.plane(0).curve = std::make_shared<NoiseCurve>(curve);
    validate(noise);
  };
  EXPECT_NO_THROW(check(poissonian(1, 1)));
  EXPECT_NO_THROW(check(clipped(poissonian(1, 1))));
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const float sigma : {0.0f, -1.0f, nan, infinity}) {
    NoiseCurve curve = poissonian(1, 1);
    curve.sigma[20] = sigma;
    EXPECT_THROW(check(curve), InvalidArgument) << sigma;
  }
  for (const auto& [low, high] : {std::pair{3.0f, 3.0f},
                                  {10.0f, 5.0f},
                                  {nan, 255.0f},
                                  {0.0f, nan},
                                  {255.0f, 300.0f},
                                  {-10.0f, 0.0f}}) {
    NoiseCurve curve = poissonian(1, 1);
    curve.low = low;
    curve.high = high;
    EXPECT_THROW(check(curve), InvalidArgument) << low << ", " << high;
  }
}

}  // namespace
}  // namespace lull
