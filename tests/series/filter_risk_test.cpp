#include "series/filter/filter_risk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/float_range.h"
#include "core/frame_pool.h"
#include "series/series_denoiser.h"
#include "series/test_series.h"

namespace lull::series {
namespace {

using test::TestSeries;

constexpr Shape shape{.width = 40, .height = 36, .slices = 20, .volumes = 10};
constexpr double sigma = 10;
constexpr int two_valued = 3;

double signal(int v, int x, int y, int z) {
  const double smooth = test::three_components(v, x, y, z);
  return v == two_valued ? (smooth > 120 ? 160 : 80) : smooth;
}

/// A series whose volumes show a smooth signal, except one volume with two values. The components
/// combine this volume with others, because their signals are correlated.
TestSeries noisy_series() {
  TestSeries series(shape);
  test::Normal normal;
  series.fill([&](int v, int x, int y, int z) { return signal(v, x, y, z) + sigma * normal(); });
  return series;
}

/// Replaces each sample by the median of the samples beside it in its slice.
bool median_filter(ComponentSource& source, ComponentSink& sink, const ComponentGroup&) {
  FramePool pool(source.format());
  while (const std::optional<Frame> slice = source.read()) {
    Frame filtered = pool.acquire();
    filtered.copy_info(*slice);
    const PlaneView<const float> from = slice->plane<float>(0);
    for (int y = 0; y < from.height; ++y)
      for (int x = 0; x < from.width; ++x) {
        std::array<float, 9> near;
        for (int i = 0; i < 9; ++i)
          near[i] = from(std::clamp(x + i % 3 - 1, 0, from.width - 1),
                         std::clamp(y + i / 3 - 1, 0, from.height - 1));
        std::ranges::nth_element(near, near.begin() + 4);
        filtered.plane<float>(0)(x, y) = near[4];
      }
    sink.write(std::move(filtered));
  }
  return true;
}

/// A filter for volumes with two values: if the distribution of a volume has two peaks, replaces
/// each sample by the nearest peak. The filter does not change other volumes.
bool two_value_filter(ComponentSource& source, ComponentSink& sink, const ComponentGroup& group) {
  const float middle = (filter_range_min + filter_range_max) / 2;
  for (int k = group.first; k < group.end; ++k) {
    std::vector<Frame> slices;
    double sum = 0, squares = 0, count = 0;
    for (int z = 0; z < shape.slices; ++z) {
      const PlaneView<float> plane = slices.emplace_back(*source.read()).plane<float>(0);
      for (int y = 0; y < plane.height; ++y)
        for (int x = 0; x < plane.width; ++x, ++count) {
          const auto value = static_cast<double>(plane(x, y) - middle);
          sum += std::abs(value);
          squares += value * value;
        }
    }
    const auto peak = static_cast<float>(sum / count);
    const bool has_two_peaks = peak > 0.93 * std::sqrt(squares / count);
    for (Frame& slice : slices) {
      const PlaneView<float> plane = slice.plane<float>(0);
      for (int y = 0; has_two_peaks && y < plane.height; ++y)
        for (int x = 0; x < plane.width; ++x)
          plane(x, y) = middle + (plane(x, y) > middle ? peak : -peak);
      sink.write(std::move(slice));
    }
  }
  return true;
}

Fit fit_of(TestSeries& series, const FitOptions& options) {
  return fit_series(series.samples(), test::gaussian(shape.volumes, sigma), options);
}

/// Returns the mean squared error of each volume in units of the noise variance, for a filter of
/// the components of `fit`.
std::vector<double> errors(TestSeries series, Fit fit) {
  fit.doubtful.clear();
  std::vector<float> memory;
  const auto filtered = filter_series(series.samples(), std::move(fit), {.refine = false},
                                      [](int) { return Samples{}; }, median_filter, {});
  const auto session =
      open_series(std::make_shared<const FilteredSeries>(*filtered), component_format(shape));
  FramePool pool(component_format(shape));
  std::vector<double> sums(shape.volumes);
  for (int i = 0; i < shape.volumes * shape.slices; ++i) {
    Frame slice = pool.acquire();
    slice.pts = i;
    for (int y = 0; y < shape.height; ++y)
      std::fill_n(slice.plane<float>(0).row(y), shape.width, 0.0f);
    const std::optional<Frame> result = session->push(std::move(slice));
    const int v = i / shape.slices;
    for (int y = 0; y < shape.height; ++y)
      for (int x = 0; x < shape.width; ++x)
        sums[v] += std::pow(static_cast<double>(result->plane<float>(0)(x, y)) -
                                signal(v, x, y, i % shape.slices),
                            2) /
                   sigma / sigma / static_cast<double>(shape.voxels());
  }
  return sums;
}

TEST(FilterRisk, EstimatesTheErrorsOfBothFilters) {
  TestSeries series = noisy_series();
  Fit together = fit_of(series, {.refine = false});
  const std::vector<int> all = test::all_volumes(shape.volumes);
  together = without_volumes(series.samples(), std::move(together), {0}, {.refine = false});
  const std::vector<int> rest(all.begin() + 1, all.end());
  const Risks risks = risks_of_filters(series.samples(), together, rest, median_filter);
  ASSERT_EQ(risks.alone.size(), rest.size());
  const std::vector<double> of_components = errors(series, together);
  const Fit separate =
      without_volumes(series.samples(), std::move(together), all, {.refine = false});
  const std::vector<double> of_volumes = errors(series, separate);
  for (std::size_t i = 0; i < rest.size(); ++i) {
    EXPECT_NEAR(risks.together[i], of_components[rest[i]], 0.04) << i;
    EXPECT_NEAR(risks.alone[i], of_volumes[rest[i]], 0.04) << i;
    EXPECT_GT(risks.error[i], 0) << i;
  }
}

TEST(FilterRisk, VolumeWithSmallerErrorAloneIsFilteredSeparately) {
  TestSeries series = noisy_series();
  Fit fit = fit_of(series, {.refine = false});
  ASSERT_EQ(fit.combined, shape.volumes);
  fit.doubtful = test::all_volumes(shape.volumes);
  const auto filtered = filter_series(series.samples(), std::move(fit), {.refine = false},
                                      [](int) { return Samples{}; }, two_value_filter, {});
  ASSERT_TRUE(filtered);
  for (int v = 0; v < shape.volumes; ++v)
    EXPECT_EQ(filtered->fit.basis.is_separate(v), v == two_valued) << v;
}

TEST(FilterRisk, IsEmptyForASmallObject) {
  TestSeries series({.width = 6, .height = 6, .slices = 6, .volumes = 3});
  test::Normal normal;
  series.fill([&](int, int, int, int) { return 100 + sigma * normal(); });
  Fit fit = fit_series(series.samples(), test::gaussian(3, sigma), {.refine = false});
  const std::vector<int> volumes = test::all_volumes(3);
  EXPECT_TRUE(risks_of_filters(series.samples(), fit, volumes, median_filter).alone.empty());
}

}  // namespace
}  // namespace lull::series
