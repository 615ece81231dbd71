#include "series/complex/remaining_phase.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "series/filter/component_filter.h"
#include "series/test_series.h"

namespace lull::series {
namespace {

using test::TestSeries;

constexpr Shape shape{.width = 24, .height = 20, .slices = 4, .volumes = 8};
constexpr std::size_t half = shape.samples() / 2;

/// A phase that differs from volume to volume and has a narrow peak.
double phase_at(int v, int x, int y) {
  const double distance = std::hypot(x - 11, y - 9);
  return 0.4 * std::cos(v) + 1.5 * std::exp(-distance * distance / 18);
}

/// Real and imaginary parts of samples with this magnitude.
TestSeries parts_of(double magnitude, double sigma) {
  TestSeries series(shape);
  test::Normal normal;
  series.fill([&](int v, int x, int y, int) {
    const double phase = phase_at(v % 4, x, y);
    return magnitude * (v < 4 ? std::cos(phase) : std::sin(phase)) + sigma * normal();
  });
  return series;
}

/// A fit whose components are the volumes, in units of the noise.
Fit identity_fit(float level) {
  std::vector<double> vectors(shape.volumes * shape.volumes);
  for (int v = 0; v < shape.volumes; ++v) vectors[v * shape.volumes + v] = 1;
  Fit fit;
  fit.noise = test::gaussian(shape.volumes, level);
  fit.basis = Basis(test::all_volumes(shape.volumes), std::vector<double>(shape.volumes, 0.0),
                    vectors, shape.volumes);
  fit.states.assign(shape.voxels(), VoxelState::complete);
  return fit;
}

TEST(RemainingPhase, OfTheEstimateIsRemovedFromTheSamplesAndReturned) {
  constexpr float level = 2;
  TestSeries estimate = parts_of(50 / level, 0), series = parts_of(50, 1);
  const TestSeries before = series;
  TestSeries removed({shape.width, shape.height, shape.slices, shape.volumes / 2});
  remove_remaining_phase(series.samples(), identity_fit(level), estimate.samples(),
                         removed.samples());
  for (std::size_t i = 0; i < half; ++i) {
    const int x = static_cast<int>(i) % shape.width,
              y = static_cast<int>(i) / shape.width % shape.height,
              v = static_cast<int>(i / shape.voxels());
    const bool is_border = x == 0 || y == 0 || x + 1 == shape.width || y + 1 == shape.height;
    ASSERT_NEAR(removed.values[i], phase_at(v, x, y), is_border ? 0.2 : 0.1) << x << " " << y;
    ASSERT_NEAR(series.values[i], 50, is_border ? 7 : 6);
    ASSERT_NEAR(series.values[half + i], 0, is_border ? 14 : 8);
    const std::complex<float> noisy(before.values[i], before.values[half + i]),
        rotated(series.values[i], series.values[half + i]);
    ASSERT_NEAR(std::abs(rotated * std::polar(1.0f, removed.values[i]) - noisy), 0, 1e-4);
  }
}

TEST(RemainingPhase, IsZeroWhereTheEstimateIsZeroOrHasNoNoise) {
  TestSeries estimate(shape), series = parts_of(50, 1);
  const std::vector<float> before = series.values;
  remove_remaining_phase(series.samples(), identity_fit(1), estimate.samples(), {});
  EXPECT_EQ(series.values, before);
  Fit fit = identity_fit(1);
  fit.states.assign(shape.voxels(), VoxelState::constant);
  estimate.values.assign(shape.samples(), std::numeric_limits<float>::quiet_NaN());
  remove_remaining_phase(series.samples(), fit, estimate.samples(), {});
  EXPECT_EQ(series.values, before);
}

TEST(RemainingPhase, CorrectionOfFilterSeriesRunsOnceBetweenTwoPasses) {
  TestSeries series = parts_of(50, 2);
  const FitOptions options{.refine = false, .second_group = shape.volumes / 2};
  std::vector<std::string> calls;
  std::vector<float> memory;
  const auto filtered = filter_series(
      series.samples(), fit_series(series.samples(), test::gaussian(shape.volumes, 2), options),
      options,
      [&](int volumes) {
        memory.resize(shape.voxels() * volumes);
        return Samples{{shape.width, shape.height, shape.slices, volumes}, memory.data()};
      },
      [&](ComponentSource&, ComponentSink&, const ComponentGroup& group) {
        if (group.first == 0) calls.emplace_back("filter");
        return true;
      },
      [&](const Samples& samples, const Fit& fit, const Samples& components) {
        calls.emplace_back("correct");
        EXPECT_EQ(samples.data, series.values.data());
        EXPECT_EQ(components.shape.volumes, fit.basis.components());
      });
  ASSERT_TRUE(filtered);
  EXPECT_EQ(calls, (std::vector<std::string>{"filter", "correct", "filter"}));
}

}  // namespace
}  // namespace lull::series
