#include "noise/volume/rician.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "noise/volume/phantom.h"

namespace lull {
namespace {

using test_support::Draw;

struct Moments {
  double mean = 0, deviation = 0;
};
template <class Function>
Moments sampled(double v, const Function& f) {
  constexpr int count = 400'000;
  Draw draw(7);
  double sum = 0, squares = 0;
  for (int i = 0; i < count; ++i) {
    const double value = f(draw.rician(v, 1));
    sum += value, squares += value * value;
  }
  const double mean = sum / count;
  return {mean, std::sqrt(squares / count - mean * mean)};
}
double forward(double z) {
  return static_cast<double>(RicianStabiliser::forward(static_cast<float>(z)));
}

TEST(Rician, InverseIsUnbiasedForSampledNoise) {
  const RicianStabiliser stabiliser;
  for (const double v : {0.5, 0.8, 1.2, 2.0, 3.0, 5.0, 7.9, 8.2, 20.0}) {
    const double mean = sampled(v, forward).mean;
    // Five standard errors of the mean, multiplied by the slope of the inverse, which is at most 1
    // / v.
    EXPECT_NEAR(stabiliser.inverse(static_cast<float>(mean)), v, 0.008 * std::max(1.0, 1.5 / v));
  }
  EXPECT_NEAR(stabiliser.of_zero(), sampled(0, forward).mean, 0.006);
  EXPECT_EQ(stabiliser.inverse(stabiliser.of_zero()), 0);
  EXPECT_EQ(stabiliser.inverse(0.3f), 0);
}

TEST(Rician, ForwardFunctionStabilisesTheVariance) {
  for (const double v : {1.5, 2.0, 3.0, 6.0})
    EXPECT_NEAR(sampled(v, forward).deviation, 1, 0.045) << v;
  EXPECT_NEAR(sampled(0, forward).deviation, 0.78, 0.01);
}

TEST(Rician, InverseIncreasesWithoutJumps) {
  for (const double shrink_range : {0.0, 0.08}) {
    const RicianStabiliser stabiliser(shrink_range);
    float last = 0;
    for (float d = 0.5f; d < 12; d += 1.0f / 256) {
      const float v = stabiliser.inverse(d);
      ASSERT_GE(v, last) << d;
      // The bound is larger at the beginning, where the exact inverse rises like a square root.
      ASSERT_LT(v - last, d < 1.2f ? 0.15f : 0.01f) << d;
      last = v;
    }
  }
  EXPECT_TRUE(std::isnan(RicianStabiliser::forward(std::numeric_limits<float>::quiet_NaN())));
  EXPECT_TRUE(std::isnan(RicianStabiliser().inverse(std::numeric_limits<float>::quiet_NaN())));
}

TEST(Rician, ShrinkageAffectsOnlyValuesNearZero) {
  const RicianStabiliser exact, doubting(0.08);
  EXPECT_EQ(exact.of_zero(), doubting.of_zero());
  for (const float beyond : {0.01f, 0.03f, 0.06f}) {
    const float d = exact.of_zero() + beyond;
    EXPECT_LT(doubting.inverse(d), 0.95f * exact.inverse(d)) << beyond;
  }
  for (const float beyond : {0.09f, 0.2f, 2.0f, 20.0f})
    EXPECT_EQ(doubting.inverse(exact.of_zero() + beyond), exact.inverse(exact.of_zero() + beyond));
}

TEST(Rician, ExpectationMatchesTheIntegral) {
  // The definition: the mean of z cos(phase) with the phase density exp(z v cos(phase)).
  for (const double v : {0.0, 0.3, 1.0, 2.5, 4.0, 9.0})
    for (const double z : {0.1, 1.0, 2.9, 3.1, 4.0, 8.0, 12.0}) {
      double sum = 0, weight = 0;
      for (int k = 0; k < 4000; ++k) {
        const double cosine = std::cos(2 * std::numbers::pi * k / 4000);
        const double density = std::exp(z * v * (cosine - 1));
        sum += z * cosine * density;
        weight += density;
      }
      EXPECT_NEAR(rician_expectation(z, v), sum / weight, 1e-6 * z) << z << ' ' << v;
    }
  EXPECT_EQ(rician_expectation(0, 5), 0);
}

TEST(Rician, ExpectationsHaveTheMeanOfTheSignal) {
  for (const double v : {0.4, 1.0, 2.0, 6.0})
    EXPECT_NEAR(sampled(v, [v](double z) { return rician_expectation(z, v); }).mean, v, 0.008);
}

TEST(Rician, InformationIsTheVarianceOfExpectations) {
  EXPECT_NEAR(rician_information(0), 0, 1e-9);
  for (const double v : {0.2, 0.45, 1.0, 1.52, 3.0, 6.0, 7.94, 7.99, 20.0}) {
    const double deviation =
        sampled(v, [v](double z) { return rician_expectation(z, v); }).deviation;
    EXPECT_NEAR(rician_information(v), deviation * deviation, 0.012) << v;
  }
  EXPECT_NEAR(rician_information(7.949), rician_information(7.951), 1e-4);
}

TEST(Rician, VarianceFollowsFromMeanAndDeviation) {
  for (const double v : {0.0, 0.7, 1.5, 3.0, 6.0}) {
    const Moments seen = sampled(v, [](double z) { return z; });
    EXPECT_NEAR(rician_variance(seen.mean / seen.deviation), seen.deviation * seen.deviation, 0.01)
        << v;
    EXPECT_NEAR(rician_variance_at_mean(seen.mean), seen.deviation * seen.deviation, 0.01) << v;
  }
  EXPECT_NEAR(rician_variance(rayleigh_ratio), 2 - rayleigh_mean * rayleigh_mean, 1e-3);
  EXPECT_EQ(rician_variance(1e9), 1);
}

}  // namespace
}  // namespace lull
