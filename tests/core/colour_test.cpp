#include "core/colour.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/plane.h"

namespace lull {
namespace {

TEST(OpponentSpace, InvertsToRgb) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      float sum = 0;
      for (int k = 0; k < 3; ++k) sum += opponent_inverse[i][k] * opponent_forward[k][j];
      EXPECT_NEAR(sum, i == j, 1e-6);
    }
}

TEST(OpponentSpace, KeepsTheNoiseLevelInChroma) {
  const auto sigma = opponent_sigma({30, 30, 30});
  EXPECT_NEAR(sigma[0], 30 / std::sqrt(3.0), 1e-4);
  EXPECT_NEAR(sigma[1], 30, 1e-4);
  EXPECT_NEAR(sigma[2], 30, 1e-4);
  EXPECT_NEAR(opponent_sigma({0, 30, 0})[2], 30 * 2 / std::sqrt(6.0), 1e-4);
  EXPECT_EQ(opponent_sigma({0, 30, 0})[1], 0);
}

TEST(OpponentSpace, ReducesLumaFilterStrengthForStrongNoise) {
  for (const float sigma : {1.0f, 5.0f, 10.0f})
    EXPECT_NEAR(opponent_filter_sigma({sigma, sigma, sigma})[0],
                opponent_sigma({sigma, sigma, sigma})[0], 1e-5);
  EXPECT_NEAR(opponent_filter_sigma({30, 30, 30})[0], 0.98 * 30 / std::sqrt(3.0), 1e-4);
  for (const float sigma : {50.0f, 100.0f}) {
    const auto strength = opponent_filter_sigma({sigma, sigma, sigma});
    EXPECT_NEAR(strength[0], 0.96 * sigma / std::sqrt(3.0), 1e-4);
    EXPECT_NEAR(strength[1], sigma, 1e-4);
    EXPECT_NEAR(strength[2], sigma, 1e-4);
  }
}

TEST(ColourMatrix, AppliesToEachSample) {
  Plane<float> a(3, 2), b(3, 2), c(3, 2);
  for (int y = 0; y < 2; ++y)
    for (int x = 0; x < 3; ++x) {
      a.view()(x, y) = static_cast<float>(x);
      b.view()(x, y) = static_cast<float>(y);
      c.view()(x, y) = 5;
    }
  apply_colour_matrix({{1, 2, 3}, {0, 1, 0}, {1, 0, -1}}, {a.view(), b.view(), c.view()});
  EXPECT_EQ(a.view()(2, 1), 2 + 2 * 1 + 3 * 5);
  EXPECT_EQ(b.view()(2, 1), 1);
  EXPECT_EQ(c.view()(2, 1), 2 - 5);
}

}  // namespace
}  // namespace lull
