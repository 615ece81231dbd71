// Tests cluster matching: the host backends must find the same groups, both in the matcher and in
// sessions.

#include <gtest/gtest.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "bm3d/bm3d.h"
#include "core/error.h"
#include "match/clusters.h"
#include "match/cpu/matcher.h"
#include "support/cluster_clips.h"
#include "support/pictures.h"
#include "support/sessions.h"

namespace lull {
namespace {

using namespace test_support;

GroupLists by_cpu(const Clip& clip, const MatchParams& params, int threads = 2) {
  std::vector<GuideAt> frames;
  for (std::size_t f = 0; f < clip.planes.size(); ++f) {
    frames.push_back({clip.offset(f), {clip.planes[f].view(), {}}});
    if (!clip.motion.empty()) frames.back().frame.motion = clip.motion[f];
  }
  const auto own = clip.planes[0].view();
  const ReferenceGrid grid(own.width, own.height, params.step);
  GroupLists groups;
  tbb::task_arena(threads).execute([&] {
    const auto matcher = cpu::make_matcher(threads);
    matcher->begin({params, frames, 1});
    const int columns = (own.width - patch) / params.step + 1;
    std::vector<Group> found(columns);
    for (int j = 0; j < grid.count_y; ++j) {
      for (const auto& [x, count] : {std::pair{0, columns}, std::pair{grid.last_x, 1}}) {
        const cpu::Block block{x, grid.y(j), count, 1};
        matcher->begin_block(block, 0);
        matcher->find(block, 0, 0, {found.data(), static_cast<std::size_t>(count)});
        for (int i = 0; i < count; ++i)
          groups[{x + i * params.step, grid.y(j)}] = members_of(found[i]);
      }
    }
  });
  return groups;
}

void expect_same(const Clip& clip, const MatchParams& params, const char* what) {
  const GroupLists expected = by_reference(clip, params), actual = by_cpu(clip, params);
  ASSERT_EQ(expected.size(), actual.size());
  for (const auto& [place, members] : expected)
    ASSERT_EQ(members, actual.at(place))
        << what << ", reference at " << place.first << ", " << place.second;
}

TEST(ClusterMatcher, HostBackendsFindTheSameGroups) {
  const Clip clip(97, 70, 1, 60);
  for (const ClusterParams& clusters : all_kinds)
    for (const int step : {1, 3, 8}) expect_same(clip, cluster_params(clusters, step), "noise");
  for (const int group : {1, 2, 32}) expect_same(clip, cluster_params({}, 3, group), "group");
}

TEST(ClusterMatcher, TiesAreOrderedByPosition) {
  for (const int levels : {1, 2}) {  // rows that repeat; few values
    const Clip clip(70, 66, 1, levels);
    for (const ClusterParams& clusters : all_kinds)
      expect_same(clip, cluster_params(clusters), "ties");
  }
}

TEST(ClusterMatcher, FlatPicturesAreSplitDownToTheLeafSize) {
  Clip clip(72, 60, 1, 1);
  for (int y = 0; y < 60; ++y) std::fill_n(clip.planes[0].view().row(y), 72, 128.0f);
  const MatchParams params = cluster_params({64, 64, 2}, 3, 32);
  expect_same(clip, params, "flat");
  for (const auto& [place, members] : by_cpu(clip, params)) ASSERT_EQ(members.size(), 32u);
  // A tile of 8x8 positions, row by row: the patch at (0, 0) shares its leaf with the first row.
  const GroupLists rows = by_cpu(clip, cluster_params({8, 8, 1}, 3, 8));
  std::vector<std::uint32_t> row;
  for (int x = 0; x < 8; ++x) row.push_back(pack_displacement(x, 0));
  EXPECT_EQ(rows.at({0, 0}), row);
}

TEST(ClusterMatcher, TinyPicturesHaveTheSameGroups) {
  for (const auto& [width, height] : {std::pair{8, 8}, {9, 8}, {8, 30}, {15, 11}})
    for (const ClusterParams& clusters : all_kinds)
      expect_same(Clip(width, height, 1, 90), cluster_params(clusters), "tiny");
}

// The test covers numbers of candidates that vector code and sorting networks treat differently:
// none, some that fill the last vector only partly, one more than a batch, and more than keys can
// distinguish.
TEST(ClusterMatcher, AnyNumberOfCandidatesGivesTheSameGroups) {
  const auto params = [](const ClusterParams& clusters, int step) {
    MatchParams all = cluster_params(clusters, step, 32);
    all.tau = 1e6;
    return all;
  };
  Clip alone(40, 40, 1, 3);
  for (int y = 14; y < 30; ++y)
    for (int x = 14; x < 23; ++x)
      alone.planes[0].view()(x, y) = static_cast<float>(3 * (x - 14) * (y - 14) % 256);
  for (const int leaf : {8, 9}) expect_same(alone, params({128, leaf, 2}, 1), "alone");
  std::size_t least = 32;
  for (const auto& [place, members] : by_cpu(alone, params({128, 8, 2}, 1)))
    least = std::min(least, members.size());
  EXPECT_EQ(least, 1u);
  const Clip noise(300, 34, 1, 60);  // wider than the minimum width of a row
  for (const int leaf : {15, 31, 33, 63, 65, 96})
    expect_same(noise, params({128, leaf, 2}, 7), "leaves");
  expect_same(noise, params({128, 128, 4}, 5), "many");
}

TEST(ClusterMatcher, ThresholdLimitsGroups) {
  const Clip clip(80, 60, 1, 90);
  MatchParams params = cluster_params({});
  const auto members = [&] {
    std::size_t count = 0;
    for (const auto& [place, group] : by_cpu(clip, params)) count += group.size();
    return count;
  };
  const std::size_t many = members();
  params.tau = 1100;
  expect_same(clip, params, "tau");
  EXPECT_LT(members(), many);
  params.tau = 1e-3f;
  EXPECT_EQ(members(), by_cpu(clip, params).size());
}

TEST(ClusterMatcher, ColouredNoiseAddsItsBias) {
  const Clip clip(80, 60, 1, 60);
  DistanceBias bias{};
  std::mt19937 rng{8};
  for (float& b : bias) b = static_cast<float>(static_cast<int>(rng() % 1200) - 300);
  MatchParams params = cluster_params({64, 64, 2});
  const GroupLists plain = by_cpu(clip, params);
  params.bias = &bias;
  expect_same(clip, params, "bias");
  EXPECT_NE(plain, by_cpu(clip, params));
}

TEST(ClusterMatcher, TilesCoverTheSamePositionInAllFrames) {
  Clip clip(75, 60, 5, 60);
  MatchParams params = cluster_params({32, 40, 2});
  params.motion_bias = 300;
  expect_same(clip, params, "still");
  std::set<int> offsets;
  for (const auto& [place, group] : by_cpu(clip, params))
    for (const std::uint32_t member : group) offsets.insert(displacement_t(member));
  EXPECT_EQ(offsets, (std::set<int>{-2, -1, 0, 1, 2}));

  // The position that motion predicts is a candidate even if no tile of the patch contains it.
  const MotionGrid grid{75, 60, params.step};
  std::mt19937 rng{4};
  clip.motion.resize(5);
  for (auto& vectors : clip.motion)
    for (int i = 0; i < grid.columns() * grid.rows(); ++i)
      vectors.push_back({static_cast<std::int16_t>(static_cast<int>(rng() % 60) - 30),
                         static_cast<std::int16_t>(static_cast<int>(rng() % 9) - 4)});
  expect_same(clip, params, "moving");
  params.motion_bias = 1e5f;  // predicted candidates come first
  const GroupLists groups = by_cpu(clip, params);
  const auto& first = groups.at({33, 30});
  std::set<std::uint32_t> predicted;
  for (int f = 1; f < 5; ++f) {
    const Motion motion = clip.motion[f][grid.bundle_at(33, 30)];
    if (33 + motion.x >= 0 && 33 + motion.x <= 75 - patch && 30 + motion.y <= 60 - patch)
      predicted.insert(pack_displacement(motion.x, motion.y, clip.offset(f)));
  }
  EXPECT_FALSE(predicted.empty());
  for (std::size_t k = 1; k <= predicted.size(); ++k)
    EXPECT_TRUE(predicted.contains(first[k])) << k;
}

TEST(ClusterMatcher, ThreadCountDoesNotChangeGroups) {
  const Clip clip(97, 70, 1, 60);
  EXPECT_EQ(by_cpu(clip, cluster_params({}), 1), by_cpu(clip, cluster_params({}), 3));
}

// An exhaustive search of the window finds the best groups. A search of only a tenth of the
// candidates would not come as close to the best groups as this bound requires.
TEST(ClusterMatcher, GroupsAreNearlyAsGoodAsAWindowSearch) {
  const Plane<float> clean = texture_picture(128, 96);
  Clip clip(128, 96, 1, 1);
  clip.planes[0] = with_noise(clean.view(), 15);
  const auto mean = [&](const MatchParams& params) {
    double sum = 0;
    int count = 0;
    for (const auto& [place, group] : by_cpu(clip, params))
      for (const std::uint32_t member : group) {
        sum += patch_distance(clean.view(), place.first, place.second, clean.view(),
                              place.first + displacement_x(member),
                              place.second + displacement_y(member));
        ++count;
      }
    return sum / count;
  };
  MatchParams params = cluster_params({});
  const double by_clusters = mean(params);
  params.clusters.reset();
  params.window = 39;
  EXPECT_LT(by_clusters, 2.5 * mean(params));
}

// ---- Sessions ------------------------------------------------------------------------------

bm3d::Params clustered(int temporal = 0) {
  bm3d::Params params = bm3d::make_params(bm3d::Profile::fast, {20, 20, 20}, temporal);
  params.hard.step = params.wiener.step = 4;
  params.hard.clusters = params.wiener.clusters = ClusterParams{};
  return params;
}

TEST(ClusterSession, BackendsAgree) {
  for (const int temporal : {0, 1}) {
    const FrameFormat format{.width = 61, .height = 50, .layout = Layout::rgb};
    std::vector<Frame> clip;
    const Plane<float> clean = texture_picture(61, 50);
    for (unsigned n = 0; n < (temporal == 0 ? 1u : 3u); ++n) {
      clip.push_back(make_frame(format));
      for (int i = 0; i < 3; ++i)
        store_plane(with_noise(clean.view(), 20, 3 * n + i + 1).view(), clip.back(), i);
    }
    const auto run = [&](bm3d::BackendKind kind) {
      const auto session = bm3d::open(clustered(temporal), format, {.kind = kind, .threads = 2});
      return run_clip(*session, clip);
    };
    const auto actual = run(BackendKind::cpu), expected = run(BackendKind::reference);
    ASSERT_EQ(actual.size(), clip.size());
    for (std::size_t n = 0; n < clip.size(); ++n)
      for (int i = 0; i < 3; ++i) {
        EXPECT_GT(psnr(plane_of(actual[n], i).view(), plane_of(expected[n], i).view()), 48)
            << temporal << " " << i;
        EXPECT_GT(psnr(plane_of(actual[n], i).view(), clean.view()), 25) << temporal << " " << i;
      }
  }
}

TEST(ClusterSession, PhasesMayUseDifferentMatchers) {
  const FrameFormat format{.width = 50, .height = 40};
  Frame frame = make_frame(format);
  store_plane(with_noise(texture_picture(50, 40).view(), 20).view(), frame, 0);
  const auto run = [&](bool first, bool second) {
    bm3d::Params params = clustered();
    if (!first) params.hard.clusters.reset();
    if (!second) params.wiener.clusters.reset();
    const auto session = bm3d::open(params, format, {.kind = BackendKind::cpu, .threads = 1});
    return run_clip(*session, {frame}).at(0);
  };
  EXPECT_FALSE(same_samples(run(true, false), run(false, true)));
  EXPECT_FALSE(same_samples(run(true, false), run(true, true)));
}

TEST(ClusterSession, RejectsParametersOutOfRange) {
  const FrameFormat format{.width = 50, .height = 40};
  for (const ClusterParams& bad :
       {ClusterParams{7, 48, 2}, ClusterParams{129, 48, 2}, ClusterParams{32, 7, 2},
        ClusterParams{32, 129, 2}, ClusterParams{32, 48, 0}, ClusterParams{32, 48, 5}}) {
    bm3d::Params params = clustered();
    params.wiener.clusters = bad;
    EXPECT_THROW((void)bm3d::open(params, format, {.kind = BackendKind::cpu}), InvalidArgument)
        << text_of(bad);
  }
}

TEST(ClusterSession, RefuseMorePatchesThan32BitsNumber) {
  bm3d::Params params = bm3d::make_means_params(bm3d::Profile::fast, NoiseModel({20, 20, 20}), 2,
                                                ClusterParams{.tilings = 4});
  const FrameFormat large{.width = 16384, .height = 16384};
  for (const BackendKind kind : {BackendKind::cpu, BackendKind::reference})
    EXPECT_THROW((void)bm3d::open(params, large, {.kind = kind}), InvalidArgument);
}

}  // namespace
}  // namespace lull
