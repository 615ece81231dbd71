#include "series/cube_levels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "series/test_series.h"

namespace lull::series {
namespace {

using test::TestSeries;

constexpr Shape shape{.width = 32, .height = 28, .slices = 20, .volumes = 9};

std::vector<double> levels_of(TestSeries& series, NoiseKind kind) {
  SeriesNoise noise = test::gaussian(series.shape.volumes, 10);
  noise.kind = kind;
  return levels_by_cubes(series.samples(), noise, test::all_volumes(series.shape.volumes),
                         test::all_voxels(series.shape));
}

double level(int v) { return v == 4 ? 3 : v % 3 == 1 ? 2 : 1; }

void expect_levels(const std::vector<double>& levels, double sigma, double tolerance) {
  ASSERT_EQ(levels.size(), 9u);
  for (int v = 0; v < shape.volumes; ++v)
    EXPECT_NEAR(levels[v], sigma * level(v), tolerance * level(v)) << v;
}

TEST(CubeLevels, FollowGaussianNoise) {
  TestSeries series(shape);
  test::Normal normal;
  series.fill([&](int v, int x, int y, int z) {
    return test::three_components(v, x, y, z) + 5 * level(v) * normal();
  });
  expect_levels(levels_of(series, NoiseKind::gaussian), 5, 0.4);
}

TEST(CubeLevels, FollowRicianNoiseWithWeakSignal) {
  TestSeries series(shape);
  test::Normal normal;
  series.fill([&](int v, int x, int y, int z) {
    const double sigma = 40 * level(v);
    return std::hypot(test::three_components(v, x, y, z) / (1 + 0.2 * v) + sigma * normal(),
                      sigma * normal());
  });
  expect_levels(levels_of(series, NoiseKind::rician), 40, 6);
}

TEST(CubeLevels, ExcludeFineStructure) {
  TestSeries series(shape);
  test::Normal normal;
  series.fill([&](int v, int x, int y, int z) {
    const double structure = v == 2 ? 12 * std::sin(1.7 * x) * std::sin(1.8 * y) * std::cos(z) : 0;
    return 120 + structure + 5 * normal();
  });
  for (const double value : levels_of(series, NoiseKind::gaussian)) EXPECT_NEAR(value, 5, 0.4);
}

TEST(CubeLevels, AreUnknownForFewCubes) {
  TestSeries series({.width = 16, .height = 16, .slices = 16, .volumes = 9});
  test::Normal normal;
  series.fill([&](int, int, int, int) { return 120 + normal(); });
  EXPECT_TRUE(levels_of(series, NoiseKind::gaussian).empty());
}

TEST(CubeLevels, AreUnknownForLinearlyDependentVolumes) {
  TestSeries series(shape);
  test::Normal normal;
  series.fill([&](int v, int x, int y, int z) {
    return test::three_components(v, x, y, z) + 5 * normal();
  });
  for (std::size_t i = 0; i < shape.voxels(); ++i) series.at(6, i) = series.at(3, i);
  EXPECT_TRUE(levels_of(series, NoiseKind::gaussian).empty());
}

}  // namespace
}  // namespace lull::series
