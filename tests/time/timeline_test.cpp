// Tests which frames are candidates for each frame. Timeline determines the candidates without
// samples.

#include "time/timeline.h"

#include <gtest/gtest.h>

#include <vector>

namespace lull {
namespace {

std::vector<int> offsets(const Timeline& line, int n, int further_back = 0) {
  const NeighbourFrames found = line.neighbours(n, further_back);
  return {found.offset.begin(), found.offset.begin() + found.count};
}

TEST(Timeline, NearestFramesComeFirst) {
  Timeline line(2);
  for (int n = 0; n < 6; ++n) line.add(false, n > 0 ? 1 : 0);
  EXPECT_EQ(offsets(line, 2), (std::vector{-1, 1, -2, 2}));
  EXPECT_EQ(offsets(line, 3), (std::vector{-1, 1, -2, 2}));
  EXPECT_EQ(offsets(line, 5), (std::vector{-1, -2}));
}

TEST(Timeline, LastFramesMayUseEarlierFrames) {
  Timeline line(3);
  for (int n = 0; n < 12; ++n) line.add(false, n > 0 ? 1 : 0);
  EXPECT_EQ(line.extra_back(8), 0);
  EXPECT_EQ(line.extra_back(9), 0);
  EXPECT_EQ(line.extra_back(10), 1);
  EXPECT_EQ(line.extra_back(11), 2);
  EXPECT_EQ(offsets(line, 11, 2), (std::vector{-1, -2, -3, -4, -5}));
  EXPECT_EQ(offsets(line, 10, 1), (std::vector{-1, 1, -2, -3, -4}));
  Timeline wide(8);
  for (int n = 0; n < 40; ++n) wide.add(false, n > 0 ? 1 : 0);
  EXPECT_EQ(wide.extra_back(39), 0) << "no offset is greater than max_temporal";
  Timeline brief(3);
  for (int n = 0; n < 3; ++n) brief.add(false, n > 0 ? 1 : 0);
  EXPECT_EQ(brief.extra_back(2), 0) << "it looks ahead, as a first frame of a scene";
}

TEST(Timeline, SeparatesScenesButNotAroundAFlash) {
  Timeline line(2);
  line.add(false, 0);  // 0
  line.add(false, 1);  // 1
  line.add(false, 0);  // 2: a flash
  line.add(false, 2);  // 3: like frame 1
  line.add(false, 0);  // 4: another scene
  line.add(false, 1);  // 5
  EXPECT_EQ(offsets(line, 1), (std::vector{-1, 2}));
  EXPECT_EQ(offsets(line, 2), (std::vector<int>{}));
  EXPECT_EQ(offsets(line, 3), (std::vector{-2}));
  EXPECT_EQ(offsets(line, 4), (std::vector{1}));
}

TEST(Timeline, UsesTheNearestFrameOfSharedNoise) {
  Timeline line(3);
  line.add(false, 0);  // 0
  line.add(true, 1);   // 1, shares with 0
  line.add(false, 1);  // 2
  line.add(true, 1);   // 3, shares with 2
  line.add(false, 1);  // 4
  EXPECT_EQ(offsets(line, 0), (std::vector{2, 4}));
  EXPECT_EQ(offsets(line, 3), (std::vector{1, -2}));
  EXPECT_EQ(offsets(line, 4), (std::vector{-1, -3}));
}

TEST(Timeline, LimitsRepeats) {
  Timeline line(1);
  EXPECT_TRUE(line.is_distinct(Relation::independent));
  for (int n = 0; n < max_repeats; ++n) EXPECT_FALSE(line.is_distinct(Relation::identical)) << n;
  EXPECT_TRUE(line.is_distinct(Relation::identical));
  EXPECT_FALSE(line.is_distinct(Relation::repeats));  // repeats a frame that was no near repeat
  EXPECT_FALSE(line.is_distinct(Relation::identical));
  EXPECT_TRUE(line.is_distinct(Relation::repeats));
  EXPECT_TRUE(line.is_distinct(Relation::partial_repeat));
}

// The first frames of a scene have no preceding frames; they use later ones to have as many as the
// others.
TEST(Timeline, FirstFramesOfASceneUseLaterFrames) {
  for (const int cut : {0, 7}) {
    Timeline line(2);
    for (int n = 0; n < cut + 8; ++n) line.add(false, n == 0 || n == cut ? 0 : 1);
    EXPECT_EQ(offsets(line, cut), (std::vector{1, 2, 3, 4}));
    EXPECT_EQ(offsets(line, cut + 1), (std::vector{-1, 1, 2, 3}));
    EXPECT_EQ(offsets(line, cut + 2), (std::vector{-1, 1, -2, 2}));
    EXPECT_EQ(line.extra_ahead(cut), 2);
    EXPECT_EQ(line.extra_ahead(cut + 1), 1);
    EXPECT_EQ(line.extra_ahead(cut + 2), 0);
  }
}

TEST(Timeline, ExtraFramesRespectMaxTemporal) {
  const std::vector<std::vector<int>> further{{},
                                              {1, 0},
                                              {2, 1, 0},
                                              {3, 2, 1, 0},
                                              {4, 3, 2, 1, 0},
                                              {3, 3, 3, 2, 1, 0},
                                              {2, 2, 2, 2, 2, 1, 0},
                                              {1, 1, 1, 1, 1, 1, 1, 0},
                                              {0, 0, 0, 0}};
  for (int radius = 1; radius <= max_temporal; ++radius) {
    Timeline line(radius);
    for (int n = 0; n < 12; ++n) line.add(false, n > 0 ? 1 : 0);
    for (std::size_t n = 0; n < further[radius].size(); ++n)
      EXPECT_EQ(line.extra_ahead(n), further[radius][n]) << "radius " << radius << " frame " << n;
  }
}

TEST(Timeline, FlashDoesNotBeginAScene) {
  Timeline line(2);
  for (int n = 0; n < 4; ++n) line.add(false, n > 0 ? 1 : 0);
  line.add(false, 0);  // 4: a flash
  line.add(false, 2);  // 5: like frame 3
  line.add(false, 1);  // 6
  for (int n = 7; n < 12; ++n) line.add(false, 1);
  EXPECT_EQ(offsets(line, 5), (std::vector{1, -2, 2}));
  EXPECT_EQ(offsets(line, 6), (std::vector{-1, 1, 2}));
}

}  // namespace
}  // namespace lull
