#include "bm3d/colour.h"

#include <gtest/gtest.h>

#include "bm3d/guide.h"
#include "support/pictures.h"

namespace lull::bm3d {
namespace {

TEST(OpponentSpace, InvertsToRgb) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      float sum = 0;
      for (int k = 0; k < 3; ++k) sum += opponent_inverse[i][k] * opponent_forward[k][j];
      EXPECT_NEAR(sum, i == j, 1e-6);
    }
}

TEST(OpponentSpace, KeepsTheLevelOfNoiseInChroma) {
  const auto sigma = opponent_sigma({30, 30, 30});
  EXPECT_NEAR(sigma[0], 30 / std::sqrt(3.0), 1e-4);
  EXPECT_NEAR(sigma[1], 30, 1e-4);
  EXPECT_NEAR(sigma[2], 30, 1e-4);
  EXPECT_NEAR(opponent_sigma({0, 30, 0})[2], 30 * 2 / std::sqrt(6.0), 1e-4);
  EXPECT_EQ(opponent_sigma({0, 30, 0})[1], 0);
}

TEST(MixPlanes, MixesEachSample) {
  Plane<float> a(3, 2), b(3, 2), c(3, 2);
  for (int y = 0; y < 2; ++y)
    for (int x = 0; x < 3; ++x) {
      a.view()(x, y) = static_cast<float>(x);
      b.view()(x, y) = static_cast<float>(y);
      c.view()(x, y) = 5;
    }
  mix_planes({{1, 2, 3}, {0, 1, 0}, {1, 0, -1}}, {a.view(), b.view(), c.view()});
  EXPECT_EQ(a.view()(2, 1), 2 + 2 * 1 + 3 * 5);
  EXPECT_EQ(b.view()(2, 1), 1);
  EXPECT_EQ(c.view()(2, 1), 2 - 5);
}

TEST(BoxAverage, AveragesWhatExists) {
  Plane<float> fine(5, 3), coarse(3, 2);
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 5; ++x) fine.view()(x, y) = static_cast<float>(10 * y + x);
  box_average(fine.view(), 1, 1, coarse.view());
  EXPECT_EQ(coarse.view()(0, 0), (0 + 1 + 10 + 11) / 4.0f);
  EXPECT_EQ(coarse.view()(2, 0), (4 + 14) / 2.0f);   // right border
  EXPECT_EQ(coarse.view()(0, 1), (20 + 21) / 2.0f);  // lower border
  EXPECT_EQ(coarse.view()(2, 1), 24.0f);             // corner
  Plane<float> wide(3, 3);
  box_average(fine.view(), 1, 0, wide.view());
  EXPECT_EQ(wide.view()(1, 2), (22 + 23) / 2.0f);
}

}  // namespace
}  // namespace lull::bm3d
