#include "noise/noise_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "support/coloured_noise.h"

namespace lull {
namespace {

using testing::blurred_noise;

TEST(NoiseModel, OfThreeLevelsIsWhite) {
  const NoiseModel noise(std::array<float, 3>{3, 4, 5});
  EXPECT_TRUE(noise.is_white());
  EXPECT_EQ(noise.sigmas(), (std::array<float, 3>{3, 4, 5}));
}

TEST(NoiseModel, TravelsToTheOpponentSpace) {
  const auto correlation = blurred_noise(8, 8, 1, true, true).correlation;
  NoiseModel rgb(std::array<float, 3>{10, 10, 10});
  EXPECT_TRUE(rgb.in_opponent_space().is_white());
  for (int c = 0; c < 3; ++c) rgb.plane(c).correlation = correlation;
  const NoiseModel same = rgb.in_opponent_space();
  for (std::size_t k = 0; k < correlation->size(); ++k)
    EXPECT_NEAR((*same.plane(2).correlation)[k], (*correlation)[k], 1e-6);
  EXPECT_NEAR(same.sigma(0), 10 / std::sqrt(3.0f), 1e-4);
  // Only blue is coloured: of the variance of V it has a sixth.
  rgb.plane(0).correlation = rgb.plane(1).correlation = nullptr;
  const int beside = correlation_reach * correlation_lags + correlation_reach + 1;
  EXPECT_NEAR((*rgb.in_opponent_space().plane(2).correlation)[beside], (*correlation)[beside] / 6,
              1e-6);
}

TEST(NoiseModel, RefusesWhatIsNone) {
  NoiseModel noise(std::array<float, 3>{1, 1, 1});
  auto broken = std::make_shared<Autocorrelation>();  // zeros
  noise.plane(0).correlation = broken;
  EXPECT_THROW(validate(noise), InvalidArgument);
  broken->at(correlation_reach * correlation_lags + correlation_reach) = 1;
  EXPECT_NO_THROW(validate(noise));
  broken->at(0) = std::nanf("");
  EXPECT_THROW(validate(noise), InvalidArgument);
  EXPECT_THROW(validate(NoiseModel(std::array<float, 3>{0, -1, 0})), InvalidArgument);
}

}  // namespace
}  // namespace lull
