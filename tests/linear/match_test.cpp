// Compares the groups of the cpu backend with those of the reference: both compute in integers, so
// the groups must be equal.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "linear/guide.h"
#include "linear/pictures.h"
#include "linear/reference/stages.h"
#include "noise/holes.h"

namespace lull::linear {
namespace {

std::set<std::uint16_t> members_of(const Groups& groups, int i, int j) {
  const auto group = groups.at(i, j);
  return {group.begin(), group.end()};
}

void expect_equal_groups(PlaneView<const float> guide, const GroupSizes& sizes,
                         const Holes* holes = nullptr) {
  const auto cpu = make_cpu_engine(2), reference = make_reference_engine();
  Groups a, b;
  match_still(*cpu, guide, any_range, sizes, a, holes);
  match_still(*reference, guide, any_range, sizes, b, holes);
  ASSERT_EQ(a.grid().count_x, b.grid().count_x);
  ASSERT_EQ(a.grid().count_y, b.grid().count_y);
  for (int j = 0; j < a.grid().count_y; ++j)
    for (int i = 0; i < a.grid().count_x; ++i) {
      ASSERT_EQ(a.at(i, j).size(), b.at(i, j).size()) << i << ", " << j;
      ASSERT_EQ(a.at(i, j)[0], 0);
      ASSERT_EQ(members_of(a, i, j), members_of(b, i, j)) << i << ", " << j;
    }
}

TEST(CpuMatcher, FindsTheGroupsOfTheReference) {
  const auto guide = with_noise(texture_picture(101, 47).view(), 10);
  for (const GroupSizes& sizes : {GroupSizes{.side = 6, .group = 64, .step = 3, .window = 39},
                                  GroupSizes{.side = 13, .group = 16, .step = 4, .window = 21},
                                  GroupSizes{.side = 7, .group = 48, .step = 5, .window = 43},
                                  GroupSizes{.side = 8, .group = 5, .step = 1, .window = 3},
                                  GroupSizes{.side = 3, .group = 2, .step = 3, .window = 9},
                                  GroupSizes{.side = 12, .group = 33, .step = 7, .window = 31}})
    expect_equal_groups(guide.view(), sizes);
}

/// Returns holes of 5x3 samples, 17 columns and 11 rows apart.
Holes some_holes(int width, int height) {
  std::vector<bool> hole;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) hole.push_back(x % 17 < 5 && y % 11 < 3);
  return {width, height, hole};
}

TEST(CpuMatcher, FindsTheGroupsOfTheReferenceBetweenHoles) {
  const auto guide = with_noise(texture_picture(101, 47).view(), 10);
  const Holes holes = some_holes(101, 47);
  for (const GroupSizes& sizes : {GroupSizes{.side = 6, .group = 64, .step = 3, .window = 39},
                                  GroupSizes{.side = 7, .group = 48, .step = 5, .window = 43},
                                  GroupSizes{.side = 9, .group = 16, .step = 4, .window = 21}})
    expect_equal_groups(guide.view(), sizes, &holes);
}

TEST(CpuMatcher, FindsNoCandidatesThatOverlapHoles) {
  const auto guide = with_noise(texture_picture(101, 47).view(), 10);
  const Holes holes = some_holes(101, 47);
  const auto engine = make_cpu_engine(1);
  Groups groups;
  const GroupSizes sizes{.side = 6, .group = 32, .step = 3, .window = 39};
  match_still(*engine, guide.view(), any_range, sizes, groups, &holes);
  int members = 0;
  for (int j = 0; j < groups.grid().count_y; ++j)
    for (int i = 0; i < groups.grid().count_x; ++i)
      for (const std::uint16_t index : groups.at(i, j).subspan(1)) {
        const Place place = groups.place(i, j, index);
        const int x = groups.grid().x(i) + place.x, y = groups.grid().y(j) + place.y;
        EXPECT_FALSE(holes.any_in(x, y, sizes.side)) << x << ", " << y;
        ++members;
      }
  EXPECT_GT(members, 1000);
}

TEST(CpuMatcher, OrdersEqualDistancesByTheirIndex) {
  Plane<float> flat(60, 40), stripes(60, 40);
  for (int y = 0; y < 40; ++y)
    for (int x = 0; x < 60; ++x) {
      flat.view()(x, y) = 77;
      stripes.view()(x, y) = x / 2 % 3 == 0 ? 255.0f : 0.0f;
    }
  const GroupSizes sizes{.side = 6, .group = 64, .step = 3, .window = 21};
  expect_equal_groups(flat.view(), sizes);
  expect_equal_groups(stripes.view(), sizes);
}

TEST(CpuMatcher, HandlesDistancesAboveTheLimitOfKeys) {
  Plane<float> board(48, 40);  // black and white patches
  for (int y = 0; y < 40; ++y)
    for (int x = 0; x < 48; ++x)
      board.view()(x, y) = (x / 16 + y / 16) % 2 == 0 ? any_range.low : any_range.high;
  for (const int side : {8, 11, 13})
    expect_equal_groups(board.view(), {.side = side, .group = 64, .step = 4, .window = 39});
}

TEST(CpuMatcher, AcceptsPicturesOfTheSizeOfAPatch) {
  for (const auto& [width, height] : {std::pair{8, 8}, {13, 8}, {9, 30}, {200, 8}}) {
    const auto guide = with_noise(texture_picture(width, height).view(), 20);
    expect_equal_groups(guide.view(), {.side = 13, .group = 64, .step = 4, .window = 39});
  }
}

TEST(ReferenceMatcher, FindsTheRepetitionsOfAPatch) {
  Plane<std::uint8_t> guide(40, 40);
  for (int y = 0; y < 40; ++y)
    for (int x = 0; x < 40; ++x)
      guide.view()(x, y) = static_cast<std::uint8_t>(40 * (x % 5) + 17 * (y % 3) % 50);
  const GroupSizes sizes{.side = 6, .group = 4, .step = 3, .window = 7};
  // Repetitions every 5 columns and 3 rows; in the window: rows -3, 0, 3, column 0.
  Groups groups;
  groups.reset(40, 40, sizes);
  const PlaneView<const std::uint8_t> view = guide.view();
  const auto members = reference::find_group({&view, 1}, any_range, groups, 5, 5);  // at (15, 15)
  ASSERT_EQ(members.size(), 4u);
  EXPECT_EQ(members[0], 0);
  EXPECT_EQ(displacement_of(members[1], 7).y, -3);
  EXPECT_EQ(displacement_of(members[1], 7).x, 0);
  EXPECT_EQ(displacement_of(members[2], 7).y, 3);
  EXPECT_EQ(displacement_of(members[2], 7).x, 0);
}

TEST(Guide, IsQuantisedToTheNearestLevel) {
  Plane<float> guide(5, 1);
  const float values[] = {-10, 0, 127.4f, 127.6f, 300};
  std::copy_n(values, 5, guide.view().row(0));
  Plane<std::uint8_t> levels(5, 1);
  quantise(guide.view(), {0, 255}, levels.view());
  const int expected[] = {0, 0, 127, 128, 255};
  for (int x = 0; x < 5; ++x) EXPECT_EQ(levels.view()(x, 0), expected[x]);
}

}  // namespace
}  // namespace lull::linear
