#include "noise/holes.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace lull {
namespace {

/// Returns a single hole at (5, 3).
Holes one_hole(int width = 12, int height = 10) {
  std::vector<bool> hole(static_cast<std::size_t>(width) * height);
  hole[3 * width + 5] = true;
  return {width, height, hole};
}

TEST(Holes, AreAtTheGivenPositions) {
  const Holes holes = one_hole();
  EXPECT_EQ(holes.count(), 1);
  for (int y = 0; y < 10; ++y)
    for (int x = 0; x < 12; ++x) EXPECT_EQ(holes.at(x, y), x == 5 && y == 3) << x << ", " << y;
}

TEST(Holes, ExcludePatchesThatReachIntoThem) {
  const Holes holes = one_hole();
  const std::vector<std::uint8_t> reached = holes.reached(4);
  for (int y = 0; y < 10; ++y)
    for (int x = 0; x < 12; ++x) {
      const bool inside = x + 4 <= 12 && y + 4 <= 10;
      const bool covers = x <= 5 && x + 4 > 5 && y <= 3 && y + 4 > 3;
      EXPECT_EQ(reached[static_cast<std::size_t>(y) * 12 + x] != 0, inside && covers);
      if (inside) {
        EXPECT_EQ(holes.any_in(x, y, 4), covers) << x << ", " << y;
      }
    }
}

TEST(Holes, MustMatchTheFrameSize) {
  Frame frame;
  frame.format = {.width = 12, .height = 10};
  EXPECT_EQ(holes_of(frame), nullptr);
  frame.holes = std::make_shared<Holes>(one_hole());
  EXPECT_EQ(holes_of(frame)->count(), 1);
  frame.holes = std::make_shared<Holes>(one_hole(13));
  EXPECT_THROW((void)holes_of(frame), InvalidArgument);
}

TEST(Holes, AreRejectedForColour) {
  EXPECT_NO_THROW(check_holes({.width = 12, .height = 10}));
  EXPECT_THROW(check_holes({.width = 12, .height = 10, .layout = Layout::rgb}), InvalidArgument);
}

}  // namespace
}  // namespace lull
