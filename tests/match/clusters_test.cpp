// Tests the rules of match/clusters.h for tilings, splits and leaves.

#include "match/clusters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "core/error.h"
#include "match/group.h"
#include "match/patch_shape.h"
#include "support/cluster_clips.h"

namespace lull {
namespace {

using namespace test_support;

TEST(Clusters, EachTilingContainsEveryPositionOnce) {
  for (const ClusterParams& params : all_kinds)
    for (const auto& [width, height] : {std::pair{8, 8}, {9, 40}, {61, 47}, {130, 71}})
      for (int k = 0; k < params.tilings; ++k) {
        const Tiling tiling(width, height, params, k);
        std::set<std::pair<int, int>> places;
        std::size_t count = 0;
        for (int i = 0; i < tiling.columns() * tiling.rows(); ++i) {
          const Tiling::Tile tile = tiling.tile(i);
          EXPECT_LE(tile.right - tile.x, params.tile);
          EXPECT_LE(tile.bottom - tile.y, params.tile);
          for (int y = tile.y; y < tile.bottom; ++y)
            for (int x = tile.x; x < tile.right; ++x, ++count) places.emplace(x, y);
        }
        EXPECT_EQ(count, places.size());
        EXPECT_EQ(places.size(), static_cast<std::size_t>((width - 7) * (height - 7)));
        EXPECT_EQ(*places.begin(), (std::pair{0, 0}));
        EXPECT_EQ(*places.rbegin(), (std::pair{width - patch, height - patch}));
      }
}

/// Patches with a single nonzero sample, so that clusters are intervals.
class OneSample final : public PatchSpace {
 public:
  explicit OneSample(std::vector<std::uint8_t> values) : values_(std::move(values)) {}
  void samples(std::uint32_t number, std::uint8_t* to) const override {
    std::fill_n(to, patch_samples, std::uint8_t{0});
    to[0] = values_[number];
  }
  std::size_t partition(std::span<std::uint32_t> patches, const Split& split,
                        std::uint32_t*) const override {
    const auto second = std::ranges::stable_partition(patches, [&](std::uint32_t number) {
      return values_[number] * split.weight[0] >= split.bound;
    });
    return patches.size() - second.size();
  }

 private:
  std::vector<std::uint8_t> values_;
};

TEST(Clusters, LeavesContainEveryPatchInOrderWithinTheSizeLimit) {
  const int width = 50, height = 41;
  std::mt19937 rng{3};
  std::vector<std::uint8_t> values(PatchNumbers(width, height).frame);
  for (auto& v : values) v = static_cast<std::uint8_t>(rng() % 3 == 0 ? rng() % 256 : 77);
  const OneSample space(values);
  for (const ClusterParams& params : all_kinds) {
    Clusters clusters;
    clusters.plan(width, height, 1, params);
    std::vector<std::uint32_t> scratch;
    for (int i = 0; i < clusters.tiles(); ++i) clusters.make(i, space, scratch);
    for (int k = 0; k < params.tilings; ++k) {
      std::set<std::uint32_t> seen;
      for (int y = 0; y <= height - patch; ++y)
        for (int x = 0; x <= width - patch; ++x) {
          const std::uint32_t number = clusters.numbers().of(0, x, y);
          const auto leaf = clusters.leaf(k, number);
          EXPECT_LE(leaf.size(), static_cast<std::size_t>(params.leaf));
          EXPECT_TRUE(std::ranges::is_sorted(leaf));
          EXPECT_TRUE(std::ranges::binary_search(leaf, number));
          seen.insert(leaf.begin(), leaf.end());
        }
      EXPECT_EQ(seen.size(), static_cast<std::size_t>((width - 7) * (height - 7)));
    }
  }
}

TEST(Clusters, SplitSeparatesDistantPatches) {
  SeedSamples samples;
  for (int i = 0; i < split_seeds; ++i)
    std::fill_n(samples.begin() + patch_samples * i, patch_samples,
                static_cast<std::uint8_t>(i % 2 == 0 ? 10 : 200));
  const auto split = find_split(samples);
  ASSERT_TRUE(split);
  const auto in_second = [&](int value) {
    int product = 0;
    for (const int weight : split->weight) product += value * weight;
    return product < split->bound;
  };
  // The patch in the middle has the same distance from both centres and belongs to the first
  // cluster.
  EXPECT_FALSE(in_second(10));
  EXPECT_FALSE(in_second(105));
  EXPECT_TRUE(in_second(106));
  EXPECT_TRUE(in_second(255));
  samples.fill(31);
  EXPECT_FALSE(find_split(samples));
}

TEST(Clusters, WeightsHaveSixBitsAndASign) {
  for (const int greatest : {1, 63, 64, 127, 128, 255, 1000, 4080}) {
    const int shift = split_shift(greatest);
    EXPECT_LE(split_weight(greatest, shift), 63);
    EXPECT_GE(split_weight(greatest, shift), std::min(greatest, 31));
    EXPECT_EQ(split_weight(-greatest, shift), -split_weight(greatest, shift));
  }
  EXPECT_EQ(split_weight(5, 1), 3);  // halves are rounded away from 0 in both directions
  EXPECT_EQ(split_weight(-5, 1), -3);
}

// If the difference of the centres needs no rounding, a patch is on the side of the nearer centre.
TEST(Clusters, BoundsEqualExactCentres) {
  std::mt19937 rng{5};
  for (int trial = 0; trial < 3000; ++trial) {
    const int a = 1 + static_cast<int>(rng() % 7), b = trial % 2 == 0 ? 8 - a : 1;
    const int s = static_cast<int>(rng() % (255 * a + 1)),
              t = static_cast<int>(rng() % (255 * b + 1));
    const int difference = split_difference(s, a, t, b);
    const int weight = difference > 0 ? 1 : difference < 0 ? -1 : 0;
    const std::int32_t bound = split_bound(weight * split_midpoint(s, a, t, b), a, b);
    for (int p = 0; p < 256; p += 5) {
      const auto distance = [&](int sum, int count) {  // scaled by (ab)^2
        const std::int64_t d = (std::int64_t{p} * count - sum) * (a * b / count);
        return d * d;
      };
      EXPECT_EQ(p * weight < bound, distance(t, b) < distance(s, a))
          << p << " " << s << "/" << a << " " << t << "/" << b;
    }
  }
}

TEST(Clusters, SecondCentreIsAtHalfOfTheSummedDistances) {
  EXPECT_EQ(second_centre({0, 1, 1, 1, 1, 1, 1, 1}), 4);
  EXPECT_EQ(second_centre({0, 9, 1, 1, 1, 1, 1, 1}), 1);
  EXPECT_EQ(second_centre({0, 0, 0, 0, 0, 0, 0, 5}), 7);
  EXPECT_EQ(second_centre({}), -1);
}

TEST(Clusters, PatchNumbersMapBackToPositions) {
  for (const auto& [width, height] : {std::pair{8, 8}, {131, 77}, {7680, 4320}, {65001, 2000}}) {
    const PatchNumbers numbers(width, height);
    for (const int index : {0, 1, 7})
      for (const int y : {0, 1, height / 3, height - 1})
        for (const int x : {0, 1, width / 2, width - 1}) {
          if (index * static_cast<std::uint64_t>(numbers.frame) > 0xf0000000u) continue;
          const auto place = numbers.place(numbers.of(index, x, y));
          EXPECT_EQ(place.index, index);
          EXPECT_EQ(place.x, x);
          EXPECT_EQ(place.y, y);
        }
  }
}

TEST(Clusters, RefusesMorePatchesThan32BitsNumber) {
  const ClusterParams four{.tilings = 4};
  EXPECT_NO_THROW(require_numbered(8, 8, 17, four));
  EXPECT_NO_THROW(require_numbered(7680, 4320, 17, four));
  EXPECT_NO_THROW(require_numbered(16384, 16384, 3, four));
  EXPECT_THROW(require_numbered(16384, 16384, 5, four), InvalidArgument);
  EXPECT_NO_THROW(require_numbered(16384, 16384, 15, {.tilings = 1}));
  EXPECT_THROW(require_numbered(16384, 16384, 17, {.tilings = 1}), InvalidArgument);
  EXPECT_THROW(require_numbered(60000, 60000, 1, {.tilings = 1}), InvalidArgument);
}

TEST(Clusters, GuideIsRoundedToEightBits) {
  const GuideBytes plain(GuideRange{});
  EXPECT_EQ(plain(-3), 0);
  EXPECT_EQ(plain(2.5f), 2);  // ties to even, as on a GPU
  EXPECT_EQ(plain(3.5f), 4);
  EXPECT_EQ(plain(254.6f), 255);
  EXPECT_EQ(plain(1e9f), 255);
  EXPECT_EQ(plain(std::numeric_limits<float>::quiet_NaN()), 0);
  EXPECT_EQ(GuideBytes(GuideRange{-100, 410})(155), 128);
}

TEST(Clusters, ParametersSurviveFormattingAndParsing) {
  EXPECT_EQ(parse_clusters("paper"), paper_clusters);
  EXPECT_EQ(parse_clusters("64:32:4"), (ClusterParams{64, 32, 4}));
  EXPECT_EQ(parse_clusters(text_of(ClusterParams{9, 8, 3})), (ClusterParams{9, 8, 3}));
  for (const char* bad : {"", "64", "64:32", "64:32:", "64:32:2:", "64:32:2:1", "a:b:c", "64,32,2",
                          "64:32:2x", "papers", " 64:32:2"})
    EXPECT_FALSE(parse_clusters(bad)) << bad;
}

}  // namespace
}  // namespace lull
