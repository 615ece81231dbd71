// Tests propagation. The results of the reference backend are compared with values computed by
// hand. The cpu backend is compared with the reference on integers, whose distances need no
// rounding, including ties. Further tests compare complete sessions.

#include <gtest/gtest.h>
#include <tbb/task_arena.h>

#include <array>
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
#include "support/textured_clip.h"

namespace lull {
namespace {

using namespace lull::test_support;

/// Returns a picture of integer levels from 0 to 254, including both extremes, so that a byte
/// represents each level exactly. With a tau of 250 the patches that contain the extremes match
/// nothing.
Plane<float> integer_picture(int width, int height, int levels, unsigned seed) {
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

/// A clip of three frames, the reference frame first, each with its own motion.
struct Clip {
  Clip(int width, int height, int levels, int step)
      : grid{width, height, step},
        planes{integer_picture(width, height, levels, 1), integer_picture(width, height, levels, 2),
               integer_picture(width, height, levels, 3)} {
    for (int b = 0; b < grid.columns() * grid.rows(); ++b) {
      motion[0].push_back({});
      motion[1].push_back({static_cast<std::int16_t>(b % 3 - 1), 1});
      motion[2].push_back({2, static_cast<std::int16_t>(-(b % 2))});
    }
  }
  static constexpr int offsets[3] = {0, -1, 1};

  std::vector<GuideAt> guides(int frames) const {
    std::vector<GuideAt> list;
    for (int f = 0; f < frames; ++f)
      list.push_back({offsets[f],
                      {planes[f].view(),
                       f == 0 ? std::span<const Motion>{} : std::span<const Motion>(motion[f])}});
    return list;
  }
  /// Returns the planes for one reference patch, as the reference backend receives them.
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

std::vector<std::uint32_t> candidates_of(const KeptGroups& kept, int x, int y) {
  std::array<std::uint32_t, max_propagated> members;
  return {members.begin(), members.begin() + kept.candidates_of(x, y, members)};
}

/// Matches groups with `searching`, whose step is that of the search, and propagates them with
/// `next`.
void expect_same_groups(int frames, int levels, const MatchParams& searching,
                        const MatchParams& next) {
  constexpr int width = 61, height = 45;
  const Clip searched(width, height, levels, searching.step);
  const ReferenceGrid coarse(width, height, searching.step);
  KeptGroups kept;
  kept.reserve(coarse, searching.group);
  for (int j = 0; j < coarse.count_y; ++j)
    for (int i = 0; i < coarse.count_x; ++i)
      kept.keep(i, j,
                match(searched.planes_for(frames, i, j), coarse.x(i), coarse.y(j), searching));

  const Clip clip(width, height, levels, next.step);
  const ReferenceGrid grid(width, height, next.step);
  const auto matcher = cpu::make_propagating_matcher(1);
  const auto guides = clip.guides(frames);
  tbb::task_arena arena(1);
  arena.execute([&] { matcher->begin({next, guides, 0, &kept}); });
  std::vector<int> counts(max_group + 1);
  for (int j = 0; j < grid.count_y; ++j)
    for (int i = 0; i < grid.count_x; ++i) {
      const int x = grid.x(i), y = grid.y(j);
      const cpu::Block block{x, y, 1, 1};
      matcher->begin_block(block, 0);
      Group actual;
      matcher->find(block, 0, 0, {&actual, 1});
      const Group expected =
          propagate(clip.planes_for(frames, i, j), x, y, candidates_of(kept, x, y), next);
      ASSERT_EQ(members_of(actual), members_of(expected)) << x << ", " << y;
      ++counts[actual.count];
    }
  EXPECT_LT(counts[1], grid.count_x * grid.count_y);
  if (next.tau < searching.tau) {
    EXPECT_LT(counts[next.group], grid.count_x * grid.count_y);
  }
}

TEST(Propagation, CpuMatchesTheReference) {
  const MatchParams searching{.window = 13, .group = 32, .step = 5, .tau = 250};
  for (const int step : {1, 3, 5, 7})
    for (const int near : {1, 3, 7, 13}) {
      MatchParams next{.window = 11, .group = 16, .step = step, .tau = 250, .refine_window = near};
      if (near > next.window) next.window = near;
      expect_same_groups(1, 20, searching, next);
      next.tau = near > 1 ? 50 : 60;  // half of the candidates exceed the threshold, approximately
      expect_same_groups(1, 20, searching, next);
      next.tau = 0.45f;  // many ties
      next.group = 32;
      expect_same_groups(1, 2, searching, next);
    }
}

TEST(Propagation, FollowsPatchesIntoOtherFrames) {
  const MatchParams searching{
      .window = 7, .group = 32, .step = 6, .tau = 250, .temporal_window = 5, .motion_bias = 500};
  for (const int near_temporal : {0, 1, 3, 5})
    for (const int near : {1, 5}) {
      MatchParams next{.window = 7,
                       .group = 8,
                       .step = 4,
                       .tau = 250,
                       .temporal_window = 5,
                       .motion_bias = 10,
                       .refine_window = near,
                       .refine_temporal_window = near_temporal};
      expect_same_groups(3, 20, searching, next);
      next.group = 32;
      next.motion_bias = 13.0f / 64;  // a whole number of scores
      expect_same_groups(3, 2, searching, next);
    }
}

// A hand-made example: five flat patches in a row with these values.
class PropagatedByHand : public ::testing::Test {
 protected:
  PropagatedByHand() : picture(40, 8), planes{{0, {std::as_const(picture).view()}}} {
    for (int y = 0; y < 8; ++y)
      for (int x = 0; x < 40; ++x)
        picture.view()(x, y) = static_cast<float>(std::vector<int>{0, 9, 3, 1, 5}[x / 8]);
  }
  std::vector<std::uint32_t> propagated(int x, std::vector<std::uint32_t> members,
                                        const MatchParams& params) const {
    return members_of(propagate(planes, x, 0, members, params));
  }
  Plane<float> picture;
  std::vector<FramePlane> planes;
  const std::uint32_t itself = 0, far = pack_displacement(8, 0), near = pack_displacement(16, 0),
                      nearest = pack_displacement(24, 0);
};

TEST_F(PropagatedByHand, MostSimilarPatchesComeFirst) {
  const auto of = [&](int group, float tau) {
    return propagated(0, {far, near, nearest}, {.window = 49, .group = group, .tau = tau});
  };
  EXPECT_EQ(of(4, 100), (std::vector{itself, nearest, near, far}));
  EXPECT_EQ(of(4, 80), (std::vector{itself, nearest}));  // three members are not a power of two
  EXPECT_EQ(of(2, 100), (std::vector{itself, nearest}));
  EXPECT_EQ(of(4, 0.5f), (std::vector{itself}));
}

TEST_F(PropagatedByHand, IgnoresDuplicatesAndPositionsOutside) {
  const MatchParams params{.window = 49, .group = 32, .tau = 1000};
  EXPECT_EQ(propagated(0, {near, nearest, near, nearest}, params), (std::vector{itself, nearest}));
  EXPECT_EQ(propagated(0, {near, itself}, params), (std::vector{itself, near}));
  MatchParams narrow = params;
  narrow.window = 33;  // 16 to either side
  EXPECT_EQ(propagated(0, {far, near, nearest}, narrow), (std::vector{itself, near}));
  EXPECT_EQ(propagated(24, {far, near}, params), (std::vector{itself, far}));
  EXPECT_EQ(propagated(0, {pack_displacement(-1, 0), pack_displacement(8, 1), far}, params),
            (std::vector{itself, far}));
}

TEST(SearchedNeighbours, SurroundThePosition) {
  // The grid has columns 0, 4, 8, 12 and 15 and rows 0, 4 and 6.
  const ReferenceGrid searched(15 + patch, 6 + patch, 4);
  const auto at = [&](int x, int y) {
    const NeighbourPatches found = neighbours_of(searched, x, y);
    std::vector<std::array<int, 3>> list;
    for (int n = 0; n < found.count; ++n)
      list.push_back({found.all[n].column, found.all[n].row, found.all[n].members});
    return list;
  };
  using List = std::vector<std::array<int, 3>>;
  EXPECT_EQ(at(4, 4), (List{{1, 1, 15}, {0, 1, 4}, {2, 1, 4}, {1, 0, 4}, {1, 2, 4}}));
  EXPECT_EQ(at(0, 0), (List{{0, 0, 15}, {1, 0, 4}, {0, 1, 4}}));
  EXPECT_EQ(at(15, 6), (List{{4, 2, 15}, {3, 2, 4}, {4, 1, 4}}));
  EXPECT_EQ(at(5, 4), (List{{1, 1, 16}, {2, 1, 16}}));
  EXPECT_EQ(at(4, 5), (List{{1, 1, 16}, {1, 2, 16}}));
  EXPECT_EQ(at(5, 2), (List{{1, 0, 8}, {2, 0, 8}, {1, 1, 8}, {2, 1, 8}}));
  EXPECT_EQ(at(14, 6), (List{{3, 2, 16}, {4, 2, 16}}));
}

TEST(KeptGroups, ProvideCandidatesInTheOrderOfNeighbours) {
  const ReferenceGrid searched(4 + patch, patch, 4);
  KeptGroups kept;
  kept.reserve(searched, 4);
  Group group{.count = 4, .members = {}};
  for (int m = 0; m < 4; ++m) group.members[m] = pack_displacement(m, 0);
  kept.keep(0, 0, group);
  group.count = 2;
  group.members[1] = pack_displacement(0, 9);
  kept.keep(1, 0, group);
  const auto right = [](int dx) { return pack_displacement(dx, 0); };
  EXPECT_EQ(candidates_of(kept, 1, 0),
            (std::vector{right(1), right(2), right(3), group.members[1]}));
  EXPECT_EQ(candidates_of(kept, 4, 0),
            (std::vector{group.members[1], right(1), right(2), right(3)}));
}

/// These parameters are fast enough for the reference backend.
bm3d::Params small_params(int temporal) {
  bm3d::Params params = bm3d::make_params(bm3d::Profile::balanced, {20, 20, 20}, temporal);
  for (bm3d::PhaseParams* phase : {&params.hard, &params.wiener}) {
    phase->window = 13;
    phase->temporal_window = 5;
    phase->refine_window = 1;
    phase->refine_temporal_window = 0;
  }
  params.hard.step = 3;
  params.wiener.step = 4;
  params.search_step = 0;
  params.kept = 16;
  return params;
}

struct Propagated {
  const char* name;
  FrameFormat format;
  int temporal = 0;
  void (*change)(bm3d::Params&);
};
void PrintTo(const Propagated& p, std::ostream* out) { *out << p.name; }

class WithoutASearch : public ::testing::TestWithParam<Propagated> {};

constexpr FrameFormat gray{.width = 75, .height = 53};
constexpr FrameFormat subsampled{
    .width = 75, .height = 53, .layout = Layout::yuv, .chroma_shift_x = 1, .chroma_shift_y = 1};
constexpr FrameFormat rgb{.width = 48, .height = 40, .layout = Layout::rgb};

void only_second(bm3d::Params&) {}
void both(bm3d::Params& p) {
  p.search_step = 6;
  p.hard.refine_window = p.wiener.refine_window = 5;
}
void both_over_time(bm3d::Params& p) {
  both(p);
  p.wiener.window = 9;  // smaller than the window of the first phase
  p.hard.refine_temporal_window = 3;
  p.wiener.refine_temporal_window = 1;
}
void only_first(bm3d::Params& p) {
  p.search_step = 9;
  p.kept = 0;
  p.hard.refine_window = 9;
}

INSTANTIATE_TEST_SUITE_P(
    cpu, WithoutASearch,
    ::testing::Values(
        Propagated{"Second", gray, 0, only_second},
        Propagated{"SecondOverTime", gray, 1, only_second},
        Propagated{"SecondOfSubsampled", subsampled, 0, only_second},
        Propagated{"SecondOfRgb", rgb, 0, only_second}, Propagated{"First", gray, 0, only_first},
        Propagated{"FirstOfSubsampled", subsampled, 0, only_first},
        Propagated{"Both", gray, 0, both}, Propagated{"BothOfSubsampled", subsampled, 0, both},
        Propagated{"BothOfRgb", rgb, 0, both}, Propagated{"BothOverTime", gray, 1, both_over_time},
        Propagated{"BothOfSubsampledOverTime", subsampled, 1, both_over_time}),
    [](const auto& info) { return info.param.name; });

TEST_P(WithoutASearch, BackendsAgree) {
  const auto& [name, format, temporal, change] = GetParam();
  const TexturedClip clip(format, 1 + 2 * temporal);
  bm3d::Params params = small_params(temporal);
  change(params);
  const auto run = [&](const bm3d::Backend& backend) {
    return run_clip(*bm3d::open(params, format, backend), clip.noisy);
  };
  const auto expected = run({.kind = bm3d::BackendKind::reference});
  const auto one = run({.kind = bm3d::BackendKind::cpu, .threads = 1});
  const auto two = run({.kind = bm3d::BackendKind::cpu, .threads = 2});
  params.kept = params.search_step = 0;
  const auto searched = run({.kind = bm3d::BackendKind::cpu});
  for (std::size_t n = 0; n < clip.noisy.size(); ++n) {
    EXPECT_TRUE(same_samples(one[n], two[n])) << n;
    EXPECT_FALSE(same_samples(one[n], searched[n])) << n;
    for (int i = 0; i < format.planes(); ++i) {
      const auto quality = [&](const Frame& frame) { return clip.quality(frame, n, i); };
      EXPECT_NEAR(quality(one[n]), quality(expected[n]), 0.15) << n << ", plane " << i;
      EXPECT_NEAR(quality(one[n]), quality(searched[n]), 0.5) << n << ", plane " << i;
    }
  }
}

TEST(KeptGroups, UseThePredictedMemory) {
  bm3d::Params params = small_params(0);
  params.hard.step = 4;
  const FrameFormat gray{.width = 72, .height = 40};  // 17 by 9 reference patches
  EXPECT_EQ(bm3d::kept_bytes(params, gray), 17u * 9 * (4 * 16 + 1));
  FrameFormat yuv = gray;
  yuv.layout = Layout::yuv;
  EXPECT_EQ(bm3d::kept_bytes(params, yuv), 17u * 9 * (4 * 16 + 1));  // chroma uses luma's groups
  yuv.chroma_shift_x = yuv.chroma_shift_y = 1;
  // Chroma that is smaller than luma has its own groups.
  EXPECT_EQ(bm3d::kept_bytes(params, yuv), (17u * 9 + 8 * 4) * (4 * 16 + 1));
  params.phases = 1;
  EXPECT_EQ(bm3d::kept_bytes(params, yuv), 0u);
  params.search_step = 8;  // 9 by 5, and 5 by 3
  EXPECT_EQ(bm3d::kept_bytes(params, yuv), (9u * 5 + 5 * 3) * (4 * 16 + 1));
}

}  // namespace
}  // namespace lull
