// Tests the candidates of the second phase without a search.

#include "bm4d/propagation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "bm4d/volumes.h"

namespace lull::bm4d {
namespace {

using namespace test_support;

TEST(Bm4dPropagation, FindsTheNearestReferenceCube) {
  for (const int cube : {3, 4})
    for (int step = 1; step <= cube; ++step)
      for (int length = cube; length < 20; ++length)
        for (int at = 0; at <= length - 3; ++at) {
          const auto away = [&](int i) {
            return std::abs(reference_position(i, length, step, cube) - at);
          };
          const int nearest = nearest_reference(at, length, step, cube);
          ASSERT_LT(nearest, reference_count(length, step, cube));
          for (int i = 0; i < reference_count(length, step, cube); ++i)
            EXPECT_TRUE(i < nearest ? away(i) > away(nearest) : away(i) >= away(nearest))
                << cube << " " << step << " " << length << " " << at;
        }
}

TEST(Bm4dPropagation, UsesNearbyLayers) {
  Params params = small_params();
  params.hard.step = 4;
  params.hard.window = params.wiener.window = 5;  // layers are used up to 4 slices away
  KeptLayers layers(params, 1);
  EXPECT_EQ(layers.around(0), (std::array{-1, -1, -1}));
  for (int z = 8; z <= 48; z += 4) layers.add(z);
  const auto place = [&](int z) { return (z - 8) / 4 % layers.depth(); };
  EXPECT_EQ(layers.around(44), (std::array{place(40), place(44), place(48)}));
  EXPECT_EQ(layers.around(45), (std::array{-1, place(44), place(48)}));
  EXPECT_EQ(layers.around(46), (std::array{-1, place(44), place(48)}));
  EXPECT_EQ(layers.around(47), (std::array{place(44), place(48), -1}));
  EXPECT_EQ(layers.around(53), (std::array{-1, -1, -1}));
  layers.add(50);  // the last layer
  EXPECT_EQ(layers.around(49), (std::array{-1, place(48), place(52)}));
  layers.begin();
  EXPECT_EQ(layers.around(44), (std::array{-1, -1, -1}));
}

TEST(Bm4dPropagation, CandidatesLieInTheWindowAndOccurOnce) {
  Params params = small_params();
  params.hard.window = 11;
  params.wiener.window = 7;
  const VolumePlan plan{params, 17, 14, 20};
  KeptGroups kept(plan);
  std::uint32_t random = 1;
  const auto displacement = [&] {
    random = random * 1664525 + 1013904223;
    return static_cast<int>(random >> 16) % 11 - 5;
  };
  for (int z = 0; z <= 12; z += 3) {
    for (KeptList& list : kept.add_layer(z))
      for (std::uint32_t& member : list) {
        const int x = displacement(), y = displacement();
        member = pack_offset(x, y, displacement());
      }
  }
  const SliceSpan available{0, 16};
  std::array<std::uint32_t, max_listed> buffer;
  std::size_t most = 0;
  for (const int x : {0, 3, 6, 13})
    for (const int y : {0, 6, 10})
      for (const int z : {0, 6, 12}) {
        const auto found = kept.candidates(x, y, z, available, buffer);
        most = std::max(most, found.size());
        EXPECT_EQ(std::set(found.begin(), found.end()).size(), found.size());
        for (const std::uint32_t to : found) {
          const int dx = offset_x(to), dy = offset_y(to), dz = offset_z(to);
          EXPECT_NE(to, 0u);
          EXPECT_LE(std::max({std::abs(dx), std::abs(dy), std::abs(dz)}), 3);
          EXPECT_TRUE(x + dx >= 0 && x + dx <= 13 && y + dy >= 0 && y + dy <= 10 && z + dz >= 0 &&
                      z + dz <= 12);
        }
      }
  EXPECT_GT(most, 20u);
  // There are no candidates far from the retained layers.
  EXPECT_EQ(kept.candidates(3, 3, 30, {0, 40}, buffer).size(), 0u);
}

TEST(Bm4dPropagation, SecondPhaseSearchesOnRequestAndForSmallGroups) {
  Params params = make_params(Profile::balanced, {20, 20, 20});
  EXPECT_TRUE(params.reranks_groups());
  params.second_search = true;
  EXPECT_FALSE(params.reranks_groups());
  params.second_search = false;
  params.hard.group = 4;
  EXPECT_FALSE(params.reranks_groups());
  params.hard.group = 16;
  params.phases = 1;
  EXPECT_FALSE(params.reranks_groups());
}

// In a smooth volume with noise, a search in windows finds only slightly better groups than the
// list of candidates.
TEST(Bm4dPropagation, CostsLittleQuality) {
  const Size size{40, 40, 24};
  const auto clean = clean_volume(size), noisy = noisy_volume(size, 20);
  for (const Profile profile : {Profile::fast, Profile::balanced}) {
    Params params = make_params(profile, {20, 20, 20});
    const auto ranked = denoise(params, noisy);
    params.second_search = true;
    const auto searched = denoise(params, noisy);
    EXPECT_NEAR(psnr(clean, ranked), psnr(clean, searched), 0.15);
    EXPECT_GT(max_difference(ranked, searched), 0);
  }
}

}  // namespace
}  // namespace lull::bm4d
