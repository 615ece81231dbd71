#include "noise/noise_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "support/coloured_noise.h"

namespace lull {
namespace {

using test_support::blurred_noise;

TEST(NoiseModel, ThreeLevelsAreWhite) {
  const NoiseModel noise(std::array<float, 3>{3, 4, 5});
  EXPECT_TRUE(noise.is_white());
  EXPECT_EQ(noise.sigmas(), (std::array<float, 3>{3, 4, 5}));
}

TEST(NoiseModel, ConvertsToTheOpponentSpace) {
  const auto correlation = blurred_noise(8, 8, 1, true, true).correlation;
  NoiseModel rgb(std::array<float, 3>{10, 10, 10});
  EXPECT_TRUE(rgb.in_opponent_space().is_white());
  for (int c = 0; c < 3; ++c) rgb.plane(c).correlation = correlation;
  const NoiseModel same = rgb.in_opponent_space();
  for (std::size_t k = 0; k < correlation->size(); ++k)
    EXPECT_NEAR((*same.plane(2).correlation)[k], (*correlation)[k], 1e-6);
  EXPECT_NEAR(same.sigma(0), 10 / std::sqrt(3.0f), 1e-4);
  // Only the noise of blue is coloured. It contributes a sixth of the variance of V.
  rgb.plane(0).correlation = rgb.plane(1).correlation = nullptr;
  const int beside = lag_index(1, 0);
  EXPECT_NEAR((*rgb.in_opponent_space().plane(2).correlation)[beside], (*correlation)[beside] / 6,
              1e-6);
  // U = (R - B) / sqrt(2) contains no noise of green.
  std::swap(rgb.plane(1).correlation, rgb.plane(2).correlation);
  EXPECT_TRUE(rgb.in_opponent_space().plane(1).is_white());
  EXPECT_FALSE(rgb.in_opponent_space().plane(2).is_white());
}

TEST(NoiseModel, IgnoresCorrelationOfPlanesWithoutNoise) {
  NoiseModel noise(std::array<float, 3>{5, 0, 0});
  noise.plane(2).correlation = blurred_noise(8, 8, 1, true, true).correlation;
  EXPECT_TRUE(noise.is_white());
  noise.plane(2).sigma = 1;
  EXPECT_FALSE(noise.is_white());
}

TEST(NoiseModel, CanBeScaled) {
  const auto correlation = blurred_noise(8, 8, 1, true, true).correlation;
  const PlaneNoise plane{.sigma = 6, .correlation = correlation, .curve = {}};
  const NoiseModel opponents =
      scaled(NoiseModel::of_opponents({plane, plane, {4, nullptr, nullptr}}), 0.5f);
  EXPECT_TRUE(opponents.is_of_opponents());
  EXPECT_EQ(opponents.in_opponent_space().sigmas(), (std::array<float, 3>{3, 3, 2}));
  EXPECT_EQ(opponents.in_opponent_space().plane(1).correlation, correlation);
  NoiseModel stored(std::array<float, 3>{6, 4, 2});
  stored.plane(0).curve = std::make_shared<NoiseCurve>();
  EXPECT_EQ(scaled(stored, 2).sigmas(), (std::array<float, 3>{12, 8, 4}));
  EXPECT_EQ(scaled(stored, 2).plane(0).curve, stored.plane(0).curve);
}

TEST(NoiseModel, RejectsInvalidCorrelations) {
  NoiseModel noise(std::array<float, 3>{1, 1, 1});
  auto broken = std::make_shared<Autocorrelation>();  // zeros
  noise.plane(0).correlation = broken;
  EXPECT_THROW(validate(noise), InvalidArgument);
  broken->at(lag_index(0, 0)) = 1;
  EXPECT_NO_THROW(validate(noise));
  broken->at(lag_index(1, 0)) = 0.9f;  // but not at (-1, 0)
  EXPECT_THROW(validate(noise), InvalidArgument);
  broken->at(lag_index(-1, 0)) = 0.9f;
  EXPECT_NO_THROW(validate(noise));
  broken->at(0) = std::nanf("");
  EXPECT_THROW(validate(noise), InvalidArgument);
  EXPECT_THROW(validate(NoiseModel(std::array<float, 3>{0, -1, 0})), InvalidArgument);
}

}  // namespace
}  // namespace lull
