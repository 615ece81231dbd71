#include "series/samples/voxels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "series/test_series.h"

namespace lull::series {
namespace {

using test::TestSeries;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr Shape shape{.width = 16, .height = 12, .slices = 10, .volumes = 9};

TestSeries noisy_series(double signal) {
  TestSeries series(shape);
  test::Normal normal;
  // The left half is the object.
  series.fill([&](int, int x, int, int) { return (x < 8 ? signal : 0) + normal(); });
  return series;
}

TEST(SeriesVoxels, AreClassifiedByTheirSamples) {
  TestSeries series = noisy_series(20);
  for (int v = 0; v < shape.volumes; ++v) {
    series.at(v, 1) = nan;
    series.at(v, 2) = 7;
    if (v != 4) series.at(v, 3) = 7;
  }
  series.at(4, 5) = nan;
  const auto states = classify_voxels(series.samples(), test::all_volumes(shape.volumes));
  EXPECT_EQ(states[0], VoxelState::complete);
  EXPECT_EQ(states[1], VoxelState::constant);
  EXPECT_EQ(states[2], VoxelState::constant);
  EXPECT_EQ(states[3], VoxelState::complete);
  EXPECT_EQ(states[5], VoxelState::partial);
  // A volume that does not take part is not examined.
  EXPECT_EQ(classify_voxels(series.samples(), std::vector<int>{0, 1, 2})[5], VoxelState::complete);
}

TEST(SeriesVoxels, ObjectIsFoundByItsEnergy) {
  // Files with negative values have a zero above sample 0.
  for (const float zero : {0.0f, 20.0f}) {
    TestSeries series = noisy_series(20);
    for (int v = 0; v < shape.volumes; ++v)
      for (int i = 0; i < static_cast<int>(shape.voxels()); ++i) series.at(v, i) += zero;
    SeriesNoise noise = test::gaussian(shape.volumes, 1);
    noise.zero = zero;
    const Stabiliser stabiliser(noise, shape);
    const auto volumes = test::all_volumes(shape.volumes);
    const auto states = classify_voxels(series.samples(), volumes);
    const auto voxels = select_voxels(series.samples(), stabiliser, volumes, states, {});
    EXPECT_EQ(voxels.size(), shape.voxels() / 2) << zero;
    EXPECT_TRUE(std::ranges::all_of(voxels, [](std::uint32_t i) { return i % shape.width < 8; }));
    EXPECT_TRUE(std::ranges::is_sorted(voxels));
  }
}

TEST(SeriesVoxels, MaskReplacesTheEnergy) {
  TestSeries series = noisy_series(20);
  series.at(3, 9) = nan;
  const Stabiliser stabiliser(test::gaussian(shape.volumes, 1), shape);
  const auto volumes = test::all_volumes(shape.volumes);
  const auto states = classify_voxels(series.samples(), volumes);
  std::vector<std::uint8_t> mask(shape.voxels());
  for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = i % shape.width >= 8;
  const auto voxels = select_voxels(series.samples(), stabiliser, volumes, states, mask);
  EXPECT_EQ(voxels.size(), shape.voxels() / 2 - 1);  // one is not complete
  EXPECT_EQ(voxels.front(), 8u);
  // A mask with too few voxels is not used.
  std::ranges::fill(mask, std::uint8_t{0});
  mask[0] = 1;
  EXPECT_EQ(select_voxels(series.samples(), stabiliser, volumes, states, mask).size(),
            shape.voxels() - 1);
}

TEST(SeriesVoxels, NoiseAloneSelectsAll) {
  TestSeries series = noisy_series(0);
  const Stabiliser stabiliser(test::gaussian(shape.volumes, 1), shape);
  const auto volumes = test::all_volumes(shape.volumes);
  const auto states = classify_voxels(series.samples(), volumes);
  EXPECT_EQ(select_voxels(series.samples(), stabiliser, volumes, states, {}).size(),
            shape.voxels());
}

}  // namespace
}  // namespace lull::series
