// Tests volumes with a mask. Only the masked part of a volume has to be filtered.

#include <gtest/gtest.h>

#include <memory>

#include "bm4d/open/wanted_cubes.h"
#include "bm4d/volumes.h"
#include "core/slices.h"
#include "pipeline/part_denoiser.h"

namespace lull::bm4d {
namespace {

using namespace test_support;
using Inside = std::function<bool(int, int, int)>;

void set_mask(std::vector<Frame>& volume, const Inside& inside) {
  for (std::size_t z = 0; z < volume.size(); ++z) {
    const auto [width, height] = std::pair(volume[z].format.width, volume[z].format.height);
    std::vector<bool> bits;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) bits.push_back(inside(x, y, static_cast<int>(z)));
    volume[z].mask = std::make_shared<SliceMask>(width, height, bits, false);
  }
}

double error_inside(const std::vector<Frame>& a, const std::vector<Frame>& b,
                    const Inside& inside) {
  double sum = 0, count = 0;
  for (int z = 0; z < static_cast<int>(a.size()); ++z)
    for (int y = 0; y < a[z].format.height; ++y)
      for (int x = 0; x < a[z].format.width; ++x) {
        if (!inside(x, y, z)) continue;
        sum += std::pow(static_cast<double>(a[z].plane<float>(0)(x, y)) -
                            static_cast<double>(b[z].plane<float>(0)(x, y)),
                        2);
        ++count;
      }
  return std::sqrt(sum / count);
}

TEST(Bm4dMask, CompleteMaskChangesNothing) {
  auto noisy = noisy_volume({20, 19, 14}, 20);
  for (const Backend& backend : {Backend{.threads = 1}, Backend{.kind = BackendKind::reference}}) {
    for (Frame& slice : noisy) slice.mask.reset();
    const auto whole = denoise(small_params(), noisy, backend);
    set_mask(noisy, [](int, int, int) { return true; });
    const auto masked = denoise(small_params(), noisy, backend);
    for (std::size_t z = 0; z < whole.size(); ++z) {
      EXPECT_TRUE(same_samples(whole[z], masked[z])) << z;
      EXPECT_EQ(masked[z].mask, noisy[z].mask);
    }
  }
}

TEST(Bm4dMask, KeepsQualityInsideAndSkipsDistantSlices) {
  const Size size{40, 36, 30};
  const auto inside = [](int x, int y, int z) {
    return (x - 14) * (x - 14) + (y - 15) * (y - 15) + (z - 12) * (z - 12) < 90;
  };
  const auto clean = clean_volume(size);
  auto noisy = noisy_volume(size, 20);
  const auto whole = denoise(small_params(), noisy);
  set_mask(noisy, inside);
  const auto masked = denoise(small_params(), noisy);
  const double before = error_inside(clean, noisy, inside);
  EXPECT_LT(error_inside(clean, masked, inside), before / 2);
  EXPECT_NEAR(error_inside(clean, masked, inside), error_inside(clean, whole, inside),
              0.03 * before);
  // Where no reference cube is near, the samples must be unchanged.
  EXPECT_TRUE(same_samples(masked[29], noisy[29]));
  EXPECT_EQ(masked[12].plane<float>(0)(39, 35), noisy[12].plane<float>(0)(39, 35));
}

TEST(Bm4dMask, BackendsSkipTheSameCubes) {
  const Size size{24, 20, 16};
  const auto inside = [](int x, int y, int z) { return x + y < 20 && z > 3 && z < 9; };
  auto noisy = noisy_volume(size, 20, 8);
  set_mask(noisy, inside);
  Params params = small_params();
  params.phases = 1;
  const auto expected = denoise(params, noisy, {.kind = BackendKind::reference});
  EXPECT_LT(max_difference(expected, denoise(params, noisy)), 0.002);
  EXPECT_GT(max_difference(expected, noisy), 20);
}

TEST(Bm4dMask, PartsMatchTheCompleteVolume) {
  Params params = small_params();
  params.hard.window = params.wiener.window = 3;
  params.wiener.cube = 3;
  auto noisy = noisy_volume({12, 11, 60}, 20);
  // Layers with few cubes and layers with none, at every offset of the grid.
  set_mask(noisy, [](int x, int y, int z) { return x < 5 && y > 2 && (z % 17 < 3 || z > 55); });
  const auto whole = denoise(params, noisy);
  const auto open_one = [&] { return open(params, noisy[0].format, {.threads = 1}); };
  const auto parts = pipeline::by_parts(
      open_one(), open_one, {{0, 2}, {17, 23}, {34, 36}, {57, 59}}, {.margin = margin(params)});
  const auto results = run_clip(*parts, noisy);
  ASSERT_EQ(results.size(), whole.size());
  for (const int z : {0, 1, 2, 17, 18, 19, 20, 23, 34, 36, 57, 58, 59})
    EXPECT_TRUE(same_samples(results[z], whole[z])) << z;
}

TEST(Bm4dMask, AcceptsAxesOfAnyLength) {
  for (const Size& size : {Size{1, 1, 1}, Size{2, 3, 8}, Size{9, 1, 2}, Size{5, 4, 3}}) {
    auto noisy = noisy_volume(size, 20);
    set_mask(noisy, [](int x, int y, int z) { return x == 0 && y == 0 && z == 0; });
    EXPECT_EQ(denoise(small_params(), noisy).size(), noisy.size());
  }
}

TEST(Bm4dMask, WantedCubesOverlapTheMask) {
  Params params = small_params();
  params.hard = {.cube = 4, .window = 5, .group = 16, .step = 4};
  params.wiener = {.cube = 3, .window = 5, .group = 16, .step = 3};
  constexpr int width = 20, height = 8;
  WantedCubes cubes(params, width, height);
  cubes.begin(10);
  std::vector<bool> bits(width * height);
  const SliceMask none(width, height, bits, false);
  bits[5 * width + 9] = true;  // (9, 5)
  const SliceMask one(width, height, bits, false);
  for (int z = 10; z < 30; ++z) cubes.add(z == 20 ? &one : &none);
  std::vector<std::uint8_t> wanted;
  // Cubes begin at columns 0, 3, .. 15, 17 and rows 0, 3, 5: column 9 and rows 3 and 5 overlap the
  // mask.
  for (const auto& [z, found] : {std::pair{17, false}, {18, true}, {20, true}, {21, false}}) {
    wanted.clear();
    EXPECT_EQ(cubes.choose(Phase::second, z, wanted), found) << z;
    ASSERT_EQ(wanted.size(), 7u * 3);
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 7; ++i)
        EXPECT_EQ(wanted[j * 7 + i], found && i == 3 && j > 0) << i << " " << j << " " << z;
  }
  // The first phase also filters the reference cubes around the cubes above.
  const int reach = first_phase_reach(params);
  ASSERT_LE(reach, params.hard.radius());
  wanted.clear();
  EXPECT_TRUE(cubes.choose(Phase::first, 21 + reach - 1, wanted));
  EXPECT_FALSE(cubes.choose(Phase::first, 21 + reach, wanted));
}

}  // namespace
}  // namespace lull::bm4d
