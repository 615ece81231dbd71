#include "series/components.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/float_range.h"
#include "core/slices.h"
#include "series/test_series.h"

namespace lull::series {
namespace {

using test::TestSeries;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr Shape shape{.width = 24, .height = 22, .slices = 16, .volumes = 20};

TestSeries noisy_series() {
  TestSeries series(shape);
  test::Normal normal;
  series.fill([&](int v, int x, int y, int z) {
    return test::three_components(v, x, y, z) + 4 * normal();
  });
  return series;
}
Fit fit_of(TestSeries& series) {
  return fit_series(series.samples(), test::gaussian(shape.volumes, 4), {.refine = false});
}

TEST(SeriesComponents, MatchTheDefinition) {
  TestSeries series = noisy_series();
  const Fit fit = fit_of(series);
  TestSeries components({shape.width, shape.height, shape.slices, fit.basis.components()});
  project(series.samples(), fit, components.samples());
  for (const std::size_t voxel : {0, 77, 5000})
    for (int k = 0; k < fit.basis.components(); ++k) {
      double sum = 0;
      for (int v = 0; v < shape.volumes; ++v)
        sum += (static_cast<double>(series.at(v, voxel)) / 4 - fit.basis.mean(v)) *
               fit.basis.direction(k)[v];
      EXPECT_NEAR(components.at(k, voxel), sum, 1e-4);
    }
  // In place, the components replace the first volumes.
  const auto expected = components.values;
  project(series.samples(), fit, components_in_place(series.samples(), fit));
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), series.values.begin()));
}

TEST(SeriesComponents, MissingSamplesArePredicted) {
  TestSeries series = noisy_series();
  const Fit fit = fit_of(series);
  TestSeries whole({shape.width, shape.height, shape.slices, fit.basis.components()});
  TestSeries parts = whole;
  project(series.samples(), fit, whole.samples());
  for (const int v : {3, 11}) series.at(v, 777) = nan;
  Fit with_missing = fit;
  with_missing.states = classify_voxels(series.samples(), test::all_volumes(shape.volumes));
  project(series.samples(), with_missing, parts.samples());
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(parts.at(k, 777), whole.at(k, 777), 2.5) << k;  // the noise of the missing samples
    EXPECT_EQ(parts.at(k, 778), whole.at(k, 778));
  }
}

TEST(SeriesComponents, VoxelsWithoutNoiseAreNanAndOutsideTheMask) {
  TestSeries series = noisy_series();
  for (int v = 0; v < shape.volumes; ++v) series.at(v, 30) = 5;
  const Fit fit = fit_of(series);
  const Samples components = components_in_place(series.samples(), fit);
  project(series.samples(), fit, components);
  for (int k = 0; k < fit.basis.components(); ++k) EXPECT_TRUE(std::isnan(series.at(k, 30)));
  ComponentSource source(components, fit, {0, 1, 2});
  const auto slice = source.read();
  ASSERT_TRUE(slice && slice->mask);
  EXPECT_FALSE(slice->mask->inside(30 % shape.width, 30 / shape.width));
  EXPECT_TRUE(slice->mask->inside(31 % shape.width, 30 / shape.width));
}

TEST(SeriesComponents, GroupsUseTheRangeOfFilters) {
  TestSeries series({.width = 8, .height = 8, .slices = 2, .volumes = 4});
  const std::vector<float> magnitudes{-1000, 12, 11, 0.5f};
  for (int k = 0; k < 4; ++k) series.at(k, 5) = magnitudes[k];
  const auto groups = group_components(series.samples());
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].first, 0);
  EXPECT_EQ(groups[0].end, 1);
  EXPECT_EQ(groups[0].scale, 0.25f);
  EXPECT_EQ(groups[1].end, 4);
  EXPECT_EQ(groups[1].scale, 16);
}

TEST(SeriesComponents, SourceAndSinkAreInverse) {
  TestSeries series = noisy_series();
  const Fit fit = fit_of(series);
  const Samples components = components_in_place(series.samples(), fit);
  project(series.samples(), fit, components);
  const auto before = series.values;
  int slices = 0;
  for (const ComponentGroup& group : group_components(components)) {
    ComponentSource source(components, fit, group);
    ComponentSink sink(components, group, nullptr);
    while (auto slice = source.read()) {
      EXPECT_EQ(slice->slice, slices % shape.slices);
      for (int x = 0; x < shape.width; ++x)
        EXPECT_TRUE(FloatGuard::is_in_filter_range(slice->plane<float>(0)(x, 0)));
      sink.write(*std::move(slice));
      ++slices;
    }
  }
  EXPECT_EQ(slices, fit.basis.components() * shape.slices);
  for (std::size_t i = 0; i < fit.basis.components() * shape.voxels(); ++i)
    EXPECT_NEAR(series.values[i], before[i], 1e-3) << i;
}

}  // namespace
}  // namespace lull::series
