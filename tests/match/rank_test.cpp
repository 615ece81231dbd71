// Groups that a phase leaves to the next, which ranks them anew: the cpu backend against the
// reference on whole numbers, where distances have no rounding, to the last tie; and whole
// sessions.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "bm3d/bm3d.h"
#include "bm3d/phase_plan.h"
#include "core/error.h"
#include "match/cpu/matcher.h"
#include "match/kept_groups.h"
#include "match/motion_grid.h"
#include "match/reference/matcher.h"
#include "support/pictures.h"
#include "support/sessions.h"

namespace lull {
namespace {

using namespace lull::testing;

/// Levels from 0 to 254, both of which are there, so that a byte holds each exactly.
Plane<float> whole_numbers(int width, int height, int levels, unsigned seed) {
  Plane<float> picture(width, height);
  std::mt19937 rng{seed};
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      picture.view()(x, y) = static_cast<float>(rng() % static_cast<unsigned>(levels) + 100);
  picture.view()(0, 0) = 0;
  picture.view()(1, 0) = 254;
  return picture;
}

std::vector<std::uint32_t> members_of(const Group& group) {
  return {group.members.begin(), group.members.begin() + group.count};
}

/// A clip of three frames, the references' own first, each with a motion of its own.
struct Clip {
  Clip(int width, int height, int levels, int step)
      : grid{width, height, step},
        planes{whole_numbers(width, height, levels, 1), whole_numbers(width, height, levels, 2),
               whole_numbers(width, height, levels, 3)} {
    for (int b = 0; b < grid.columns() * grid.rows(); ++b) {
      motion[0].push_back({});
      motion[1].push_back({static_cast<std::int16_t>(b % 3 - 1), 1});
      motion[2].push_back({2, static_cast<std::int16_t>(-(b % 2))});
    }
  }
  static constexpr int offsets[3] = {0, -1, 1};

  std::vector<GuideFrame> guides(int frames) const {
    std::vector<GuideFrame> list;
    for (int f = 0; f < frames; ++f)
      list.push_back({offsets[f],
                      {planes[f].view(),
                       f == 0 ? std::span<const Motion>{} : std::span<const Motion>(motion[f])}});
    return list;
  }
  /// As the reference takes them, for a reference patch.
  std::vector<FramePlane> planes_for(int frames, int i, int j) const {
    std::vector<FramePlane> list;
    for (int f = 0; f < frames; ++f)
      list.push_back({offsets[f], {planes[f].view(), motion[f][grid.bundle(i, j)]}});
    return list;
  }

  MotionGrid grid;
  Plane<float> planes[3];
  std::vector<Motion> motion[3];
};

void expect_same_groups(int frames, int levels, const MatchParams& found, const MatchParams& next) {
  constexpr int width = 61, height = 45;
  const Clip clip(width, height, levels, found.step);
  const int columns = reference_count(width, found.step),
            rows = reference_count(height, found.step);
  KeptGroups kept;
  kept.reserve(static_cast<std::size_t>(columns) * rows, found.group);
  std::vector<Group> expected;
  std::mt19937 rng{7};
  for (int j = 0; j < rows; ++j)
    for (int i = 0; i < columns; ++i) {
      const int x = reference_position(i, width, found.step);
      const int y = reference_position(j, height, found.step);
      const auto planes = clip.planes_for(frames, i, j);
      Group group = match(planes, x, y, found);
      // In another order than that of their distances.
      std::shuffle(group.members.begin() + 1, group.members.begin() + group.count, rng);
      kept.keep(expected.size(), group);
      expected.push_back(rank_anew(planes, x, y, group, next));
    }

  const auto matcher = cpu::make_ranking_matcher(1);
  const auto guides = clip.guides(frames);
  matcher->begin({next, guides, 0, &kept});
  int several = 0, shortened = 0;
  for (int j = 0; j < rows; ++j)
    for (int i = 0; i < columns; ++i) {
      const cpu::Block block{reference_position(i, width, found.step),
                             reference_position(j, height, found.step), 1, 1};
      matcher->begin_block(block, 0);
      Group actual;
      matcher->find(block, 0, 0, {&actual, 1});
      const std::size_t at = static_cast<std::size_t>(j) * columns + i;
      ASSERT_EQ(members_of(actual), members_of(expected[at])) << i << ", " << j;
      several += actual.count > 1;
      shortened += actual.count < std::min(next.group, kept.at(at).count);
    }
  EXPECT_GT(several, 0);
  if (next.tau < found.tau) {
    EXPECT_GT(shortened, 0);
  }
}

TEST(RankAnew, IsTheSameOnTheCpuAsInTheReference) {
  const MatchParams found{.window = 13, .group = 32, .step = 5, .tau = 60000};
  MatchParams next = found;
  next.group = 16;
  expect_same_groups(1, 40, found, next);
  next.tau = 240;  // about the median of the distances
  expect_same_groups(1, 40, found, next);
  expect_same_groups(1, 2, found, {.group = 32, .step = 5, .tau = 0.45f});  // many ties
}

TEST(RankAnew, KnowsWhereMotionPredictsPatchesInOtherFrames) {
  const MatchParams found{.window = 7,
                          .group = 32,
                          .step = 4,
                          .tau = 60000,
                          .temporal_window = 5,
                          .place_bonus = 50000};
  expect_same_groups(3, 40, found, {.group = 8, .step = 4, .tau = 60000, .place_bonus = 100});
}

TEST(RankAnew, PutsTheMostSimilarFirst) {
  Plane<float> picture(40, 8);
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 40; ++x)
      picture.view()(x, y) = static_cast<float>(std::vector<int>{0, 9, 3, 1, 5}[x / 8]);
  const std::vector<FramePlane> planes{{0, {std::as_const(picture).view()}}};
  Group kept{.count = 4, .members = {}};
  for (int m = 0; m < 4; ++m) kept.members[m] = pack_displacement(8 * m, 0);
  const auto ranked = [&](int group, float tau) {
    return members_of(rank_anew(planes, 0, 0, kept, {.group = group, .tau = tau}));
  };
  const std::uint32_t itself = kept.members[0], far = kept.members[1], near = kept.members[2],
                      nearest = kept.members[3];
  EXPECT_EQ(ranked(4, 100), (std::vector{itself, nearest, near, far}));
  EXPECT_EQ(ranked(4, 80), (std::vector{itself, nearest}));  // three are no power of two
  EXPECT_EQ(ranked(2, 100), (std::vector{itself, nearest}));
  EXPECT_EQ(ranked(4, 0.5f), (std::vector{itself}));
}

/// Small enough for the reference.
bm3d::Params without_search(int temporal) {
  bm3d::Params params = bm3d::make_params(bm3d::Profile::balanced, {20, 20, 20}, temporal);
  params.hard.window = params.wiener.window = 11;
  params.hard.temporal_window = params.wiener.temporal_window = 5;
  params.hard.step = params.wiener.step = 6;
  params.kept = 32;
  return params;
}

class WithoutASecondSearch : public ::testing::TestWithParam<std::pair<FrameFormat, int>> {};

INSTANTIATE_TEST_SUITE_P(
    cpu, WithoutASecondSearch,
    ::testing::Values(std::pair{FrameFormat{.width = 75, .height = 53}, 0},
                      std::pair{FrameFormat{.width = 75, .height = 53}, 1},
                      std::pair{FrameFormat{.width = 48, .height = 40, .layout = Layout::rgb}, 0},
                      std::pair{FrameFormat{.width = 75,
                                            .height = 53,
                                            .layout = Layout::yuv,
                                            .chroma_shift_x = 1,
                                            .chroma_shift_y = 1},
                                0}));

TEST_P(WithoutASecondSearch, TheBackendsAgree) {
  const auto& [format, temporal] = GetParam();
  std::vector<Frame> noisy, clean;
  for (int n = 0; n < 1 + 2 * temporal; ++n) {
    noisy.push_back(make_frame(format));
    clean.push_back(make_frame(format));
    for (int i = 0; i < format.planes(); ++i) {
      const Plane<float> plane =
          texture_picture(format.plane_width(i), format.plane_height(i), 0.05 * n + i);
      store_plane(plane.view(), clean.back(), i);
      store_plane(with_noise(plane.view(), 20, 10 * n + i + 1).view(), noisy.back(), i);
    }
  }
  bm3d::Params params = without_search(temporal);
  const auto run = [&](const bm3d::Backend& backend) {
    return run_clip(*bm3d::open(params, format, backend), noisy);
  };
  const auto expected = run({.kind = bm3d::BackendKind::reference});
  const auto one = run({.kind = bm3d::BackendKind::cpu, .threads = 1});
  const auto two = run({.kind = bm3d::BackendKind::cpu, .threads = 2});
  params.kept = 0;
  const auto searched = run({.kind = bm3d::BackendKind::cpu});
  for (std::size_t n = 0; n < noisy.size(); ++n) {
    EXPECT_TRUE(same_samples(one[n], two[n])) << n;
    EXPECT_FALSE(same_samples(one[n], searched[n])) << n;
    for (int i = 0; i < format.planes(); ++i) {
      const auto quality = [&](const Frame& frame) {
        return psnr(plane_of(frame, i).view(), plane_of(clean[n], i).view());
      };
      EXPECT_NEAR(quality(one[n]), quality(expected[n]), 0.15) << n << ", plane " << i;
      EXPECT_NEAR(quality(one[n]), quality(searched[n]), 0.5) << n << ", plane " << i;
    }
  }
}

TEST(KeptGroups, TakeTheBytesThatAreForetold) {
  bm3d::Params params = without_search(0);
  params.hard.step = params.wiener.step = 4;
  const FrameFormat gray{.width = 72, .height = 40};  // 17 by 9 reference patches
  EXPECT_EQ(bm3d::kept_bytes(params, gray), 17u * 9 * (4 * 32 + 1));
  FrameFormat yuv = gray;
  yuv.layout = Layout::yuv;
  EXPECT_EQ(bm3d::kept_bytes(params, yuv), 17u * 9 * (4 * 32 + 1));  // chroma takes luma's
  yuv.chroma_shift_x = yuv.chroma_shift_y = 1;
  EXPECT_EQ(bm3d::kept_bytes(params, yuv), 17u * 9 * (4 * 32 + 1));  // and searches by itself
  params.phases = 1;
  EXPECT_EQ(bm3d::kept_bytes(params, yuv), 0u);
}

TEST(KeptGroups, AreRefusedWherePhasesHaveOtherReferences) {
  bm3d::Params params = bm3d::make_params(bm3d::Profile::high, {20, 20, 20});
  params.kept = 32;
  EXPECT_THROW(bm3d::validate(params), InvalidArgument);
  bm3d::search_where_needed(params);
  EXPECT_EQ(params.kept, 0);
  params = without_search(0);
  EXPECT_NO_THROW(bm3d::validate(params));
  bm3d::search_where_needed(params);
  EXPECT_EQ(params.kept, 32);
  for (const int kept : {8, 24, 64, -1}) {
    params.kept = kept;
    EXPECT_THROW(bm3d::validate(params), InvalidArgument) << kept;
  }
}

}  // namespace
}  // namespace lull
