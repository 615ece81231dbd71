#include "noise/volume/estimate_volume.h"

#include <gtest/gtest.h>

#include <limits>

#include "noise/volume/map_fit.h"
#include "noise/volume/phantom.h"

namespace lull {
namespace {

using test_support::Draw;
using test_support::estimate;
using test_support::Phantom;

constexpr double outside_range = std::numeric_limits<double>::quiet_NaN();

TEST(VolumeNoise, GaussianNoiseIsRecognisedWithAndWithoutAir) {
  const Phantom phantom;
  for (const float sigma : {2.0f, 12.0f})
    for (const double around : {0.0, -30.0, 7.0, outside_range, 999.0}) {
      Draw draw;
      const auto slices = phantom.slices_of([&](int x, int y, int z) {
        const bool masked = !phantom.is_tissue(x, y, z) && around != 0;
        // The value 999 is used for air whose noise is far below 0.
        if (around == 999) return draw.gaussian(phantom.clean(x, y, z) - 60, sigma);
        return masked ? around : draw.gaussian(phantom.clean(x, y, z), sigma);
      });
      const VolumeEstimate found = estimate(slices);
      EXPECT_EQ(found.noise.kind, NoiseKind::gaussian) << sigma << ", " << around;
      EXPECT_NEAR(found.noise.sigma, sigma, 0.05f * sigma) << around;
      EXPECT_EQ(found.level, found.noise.sigma);
      EXPECT_EQ(found.noise.map, nullptr);
      EXPECT_TRUE(found.certain);
    }
}

TEST(VolumeNoise, RicianNoiseIsRecognisedByItsBackground) {
  const Phantom phantom;
  for (const float sigma : {2.0f, 12.0f})
    for (const float zero : {0.0f, -25.0f}) {
      Draw draw;
      const auto slices = phantom.slices_of([&](int x, int y, int z) {
        return static_cast<double>(zero) + draw.rician(phantom.clean(x, y, z), sigma);
      });
      const VolumeEstimate found = estimate(slices, std::nullopt, zero);
      EXPECT_EQ(found.noise.kind, NoiseKind::rician) << sigma << ", " << zero;
      EXPECT_EQ(found.noise.zero, zero);
      EXPECT_NEAR(found.noise.sigma, sigma, 0.03f * sigma);
      EXPECT_NEAR(found.air, sigma, 0.03f * sigma);
      EXPECT_NEAR(found.tissue, sigma, 0.08f * sigma);
      EXPECT_EQ(estimate(slices, NoiseKind::gaussian, zero).noise.kind, NoiseKind::gaussian);
    }
}

TEST(VolumeNoise, RoundedSamplesAreEstimated) {
  const Phantom phantom;
  Draw draw;
  const auto slices = phantom.slices_of(
      [&](int x, int y, int z) { return std::round(draw.rician(phantom.clean(x, y, z), 3)); });
  const VolumeEstimate found = estimate(slices);
  EXPECT_EQ(found.noise.kind, NoiseKind::rician);
  EXPECT_NEAR(found.noise.sigma, 3, 0.1);
}

TEST(VolumeNoise, ClippedAirIsIgnored) {
  const Phantom phantom;
  Draw draw;
  const auto slices = phantom.slices_of(
      [&](int x, int y, int z) { return std::max(draw.gaussian(phantom.clean(x, y, z), 6), 0.0); });
  const VolumeEstimate found = estimate(slices);
  EXPECT_EQ(found.noise.kind, NoiseKind::gaussian);
  EXPECT_NEAR(found.noise.sigma, 6, 0.35);
}

TEST(VolumeNoise, RicianKindCanBeGivenWithoutBackground) {
  const Phantom phantom;
  Draw draw;
  const auto slices = phantom.slices_of([&](int x, int y, int z) {
    return phantom.is_tissue(x, y, z) ? draw.rician(phantom.clean(x, y, z), 12) : 0;
  });
  EXPECT_EQ(estimate(slices).noise.kind, NoiseKind::gaussian);
  const VolumeEstimate found = estimate(slices, NoiseKind::rician);
  EXPECT_EQ(found.noise.kind, NoiseKind::rician);
  EXPECT_NEAR(found.noise.sigma, 12, 0.6);
}

TEST(VolumeNoise, VaryingLevelGivesAMap) {
  const Phantom phantom{.width = 96, .height = 96, .slices = 72};
  for (const NoiseKind kind : {NoiseKind::gaussian, NoiseKind::rician}) {
    Draw draw;
    const auto level = [](int x) { return 3 + 6 * x / 95.0; };
    const auto slices = phantom.slices_of([&](int x, int y, int z) {
      return kind == NoiseKind::rician ? draw.rician(phantom.clean(x, y, z), level(x))
                                       : draw.gaussian(phantom.clean(x, y, z), level(x));
    });
    const VolumeEstimate found = estimate(slices);
    EXPECT_EQ(found.noise.kind, kind);
    ASSERT_NE(found.noise.map, nullptr);
    EXPECT_EQ(found.noise.sigma, found.noise.map->min_value());
    EXPECT_NEAR(found.level, 6, 0.6);
    Plane<float> map(phantom.width, phantom.height);
    found.noise.map->slice(36, map.view());
    for (const int x : {16, 32, 48, 64, 80})
      EXPECT_NEAR(map.view()(x, 48), level(x), 0.1 * level(x)) << x;
  }
}

TEST(VolumeNoise, CleanAndEmptyVolumesHaveNoNoise) {
  const Phantom phantom;
  EXPECT_EQ(estimate(phantom.slices_of([](int, int, int) { return 7.0; })).noise.sigma, 0);
  EXPECT_EQ(estimate(phantom.slices_of([](int, int, int) { return outside_range; })).noise.sigma,
            0);
  const auto steps = [&](int x, int y, int z) { return phantom.is_tissue(x, y, z) ? 100.0 : 0.0; };
  EXPECT_EQ(estimate(phantom.slices_of(steps)).noise.sigma, 0);
}

TEST(VolumeNoise, StructureEverywhereGivesAnUncertainEstimate) {
  const Phantom phantom;
  const VolumeEstimate found = estimate(phantom.slices_of([](int x, int y, int z) {
    return 120 + 50 * std::sin(0.9 * x) * std::sin(0.8 * y + 1) * std::sin(0.7 * z);
  }));
  EXPECT_FALSE(found.certain);
  EXPECT_FALSE(found.why.empty());
}

TEST(VolumeNoise, SeriesAreEstimatedTogether) {
  const Phantom phantom{.width = 40, .height = 40, .slices = 16};
  Draw draw;
  std::vector<Frame> series;
  for (int volume = 0; volume < 5; ++volume)
    for (Frame& slice : phantom.slices_of(
             [&](int x, int y, int z) { return draw.gaussian(phantom.clean(x, y, z), 5); }))
      series.push_back(std::move(slice));
  CubeCollector collector(series.front().format, static_cast<std::int64_t>(series.size()));
  for (const Frame& slice : series) collector.add(slice);
  EXPECT_EQ(collector.examined(), 5 * 4 * 10 * 10);
  EXPECT_EQ(collector.voxels(), (std::array{40, 40, 16}));
  EXPECT_NEAR(estimate_volume(collector, {}, 0).noise.sigma, 5, 0.25);
}

TEST(VolumeNoise, HugeVolumesAreSampledSparsely) {
  const Phantom phantom{.width = 256, .height = 256, .slices = 16};
  const auto slices = phantom.slices_of([](int x, int, int) { return x; });
  // The second argument is the number of slices of the complete series.
  CubeCollector collector(slices.front().format, 16'000);
  for (const Frame& slice : slices) collector.add(slice);
  EXPECT_LT(collector.examined(), 400'000 * 16 / 16'000 * 2);
  EXPECT_GT(collector.examined(), 100);
}

TEST(MapFit, ExtrapolatesAndIgnoresOutliers) {
  std::vector<NodeLevel> levels(5 * 4 * 3, {std::log(6.0), 100});
  levels[7].weight = levels[8].weight = 0;
  levels[30].logarithm = std::log(60.0);
  const NoiseMap map = fit_map({50, 40, 30}, {5, 4, 3}, levels);
  ASSERT_EQ(map.values.size(), levels.size());
  for (const float value : map.values) EXPECT_NEAR(value, 6, 0.3);
}

}  // namespace
}  // namespace lull
