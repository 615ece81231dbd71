// Tests the second halves of candidates, which lie at the position of the first halves, or are
// displaced by the motion acceleration.

#include "match/second_half.h"

#include <gtest/gtest.h>

#include "support/pictures.h"

namespace lull {
namespace {

using namespace lull::test_support;

bool is(Motion m, int x, int y) { return m.x == x && m.y == y; }

TEST(SecondHalf, UniformMotionHasNoAcceleration) {
  EXPECT_TRUE(is(motion_acceleration({3, 1}, {6, 2}, {3, 1}), 0, 0));
  EXPECT_TRUE(is(motion_acceleration({3, 1}, {7, 1}, {3, 1}), 0, 0)) << "rounding makes one sample";
  EXPECT_TRUE(is(motion_acceleration({3, 1}, {8, 2}, {3, 1}), 2, 0));
  EXPECT_TRUE(is(motion_acceleration({-4, 0}, {}, {1, -2}), 3, 2));
}

TEST(SecondHalf, ComparesTheAreaWithinThePlane) {
  const MotionGrid grid{100, 60, 6};
  // There are eight by four reference patches of 10x10 samples.
  const BundleArea inside = compared_area(grid, 10, 0, 0, {2, 3}, {4, -1});
  EXPECT_EQ(inside.left, 0);
  EXPECT_EQ(inside.top, 0);
  EXPECT_EQ(inside.right, 52);
  EXPECT_EQ(inside.bottom, 28);
  const BundleArea beyond = compared_area(grid, 10, 8, 8, {2, -5}, {4, 9});
  EXPECT_EQ(beyond.left, 48);
  EXPECT_EQ(beyond.right, 94) << "moved by 6 at most";
  EXPECT_EQ(beyond.top, 48);
  EXPECT_EQ(beyond.bottom, 56) << "by 4";
  EXPECT_EQ(compared_area(grid, 10, 0, 0, {-3, 0}, {-4, 0}).left, 7);
}

TEST(SecondHalf, FollowsAccelerationOnlyIfContentMatches) {
  constexpr int width = 90, height = 70;
  const Plane<float> whole = texture_picture(width + 20, height + 20);
  const auto shown_at = [&](int x, int y) {
    Plane<float> part(width, height);
    for (int v = 0; v < height; ++v)
      for (int u = 0; u < width; ++u) part.view()(u, v) = whole.view()(u + 10 - x, v + 10 - y);
    return part;
  };
  const Plane<float> own = shown_at(0, 0), moved = shown_at(6, -2), straight = shown_at(1, 1);
  const MotionGrid grid{width, height, 6};
  const Motion first{1, 1}, acceleration{5, -3};
  for (const int i : {0, 8}) {
    const BundleArea area = compared_area(grid, 8, i, 0, first, acceleration);
    EXPECT_TRUE(is(second_half(own.view(), moved.view(), area, first, acceleration), 5, -3));
    EXPECT_TRUE(is(second_half(own.view(), straight.view(), area, first, acceleration), 0, 0))
        << "motion between the frames was mistaken";
    EXPECT_TRUE(is(second_half(own.view(), own.view(), {5, 5, 5, 9}, first, acceleration), 0, 0))
        << "there is nothing to compare";
  }
}

}  // namespace
}  // namespace lull
