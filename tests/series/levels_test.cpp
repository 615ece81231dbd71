#include "series/levels.h"

#include <gtest/gtest.h>

#include "series/fit.h"
#include "series/test_series.h"

namespace lull::series {
namespace {

using test::TestSeries;

constexpr Shape shape{.width = 36, .height = 32, .slices = 20, .volumes = 16};

/// Fits the series, whose levels are assumed to be 5 everywhere.
Fit fit_from(TestSeries& series, NoiseKind kind = NoiseKind::gaussian) {
  SeriesNoise noise = test::gaussian(shape.volumes, 5);
  noise.kind = kind;
  return fit_series(series.samples(), noise, {});
}

TEST(SeriesLevels, CommonLevelIsMeasured) {
  TestSeries series(shape);
  test::Normal normal;
  series.fill([&](int v, int x, int y, int z) {
    return test::three_components(v, x, y, z) + 3 * normal();
  });
  const Fit fit = fit_from(series);
  for (const float level : fit.noise.levels) EXPECT_NEAR(level, 3, 0.03);
  EXPECT_EQ(fit.noise.map, nullptr);
  EXPECT_EQ(fit.spectrum.components, 3);
}

TEST(SeriesLevels, LevelsOfVolumesAreMeasured) {
  TestSeries series(shape);
  test::Normal normal;
  const auto level_of = [](int v) { return v % 4 == 1 ? 6.0 : 3.0; };
  series.fill([&](int v, int x, int y, int z) {
    return test::three_components(v, x, y, z) + level_of(v) * normal();
  });
  // The estimates of single volumes have errors of this size.
  SeriesNoise noise = test::gaussian(shape.volumes, 3.5f);
  for (int v = 1; v < shape.volumes; v += 4) noise.levels[v] = 5.2f;
  const Fit fit = fit_series(series.samples(), noise, {});
  for (int v = 0; v < shape.volumes; ++v)
    EXPECT_NEAR(fit.noise.levels[v], level_of(v), 0.15 * level_of(v)) << v;
}

TEST(SeriesLevels, MapFollowsTheNoise) {
  for (const NoiseKind kind : {NoiseKind::gaussian, NoiseKind::rician}) {
    TestSeries series(shape);
    test::Normal normal;
    const auto level_at = [](int x) { return 3 + 3.0 * x / (shape.width - 1); };
    series.fill([&](int v, int x, int y, int z) {
      const double real = test::three_components(v, x, y, z) + level_at(x) * normal();
      return kind == NoiseKind::rician ? std::hypot(real, level_at(x) * normal()) : real;
    });
    const Fit fit = fit_from(series, kind);
    ASSERT_NE(fit.noise.map, nullptr);
    std::vector<float> slice(shape.slice_voxels());
    fit.noise.map->slice(10, {slice.data(), shape.width, shape.height, shape.width});
    for (const int x : {4, 18, 31})
      EXPECT_NEAR(slice[16 * shape.width + x] * fit.noise.levels[0], level_at(x),
                  0.05 * level_at(x))
          << x;
    for (const float level : fit.noise.levels) EXPECT_EQ(level, fit.noise.levels[0]);
  }
}

TEST(SeriesLevels, GivenLevelsAreNotChanged) {
  TestSeries series(shape);
  test::Normal normal;
  series.fill([&](int v, int x, int y, int z) {
    return test::three_components(v, x, y, z) + 3 * normal();
  });
  const Fit fit = fit_series(series.samples(), test::gaussian(shape.volumes, 5), {.refine = false});
  for (const float level : fit.noise.levels) EXPECT_EQ(level, 5);
}

}  // namespace
}  // namespace lull::series
