#include "series/complex/slow_phase.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "series/test_series.h"

namespace lull::series {
namespace {

using test::TestSeries;

constexpr Shape shape{.width = 40, .height = 36, .slices = 3, .volumes = 4};
constexpr std::size_t half = shape.samples() / 2;

/// Magnitudes and phases of complex samples with this signal and noise.
template <class Signal>
TestSeries magnitudes_and_phases(const Signal& signal, double sigma) {
  TestSeries series(shape);
  test::Normal normal;
  for (std::size_t i = 0; i < half; ++i) {
    const int x = static_cast<int>(i) % shape.width,
              y = static_cast<int>(i) / shape.width % shape.height;
    std::complex<double> sample = signal(x, y);
    sample += std::complex<double>(sigma * normal(), sigma * normal());
    series.values[i] = static_cast<float>(std::abs(sample));
    series.values[half + i] = static_cast<float>(std::arg(sample));
  }
  return series;
}

TEST(SlowPhase, SmoothPhaseIsRemoved) {
  TestSeries series = magnitudes_and_phases(
      [](int x, int y) { return std::polar(100.0, 0.08 * x - 0.002 * y * y + 2); }, 0);
  make_complex(series.samples());
  for (std::size_t i = 0; i < half; ++i) {
    EXPECT_NEAR(std::hypot(series.values[i], series.values[half + i]), 100, 1e-3);
    const int x = static_cast<int>(i) % shape.width,
              y = static_cast<int>(i) / shape.width % shape.height;
    const bool interior = x >= 10 && x < shape.width - 10 && y >= 10 && y < shape.height - 10;
    ASSERT_GT(series.values[i], interior ? 99 : 85) << x << " " << y;
  }
}

TEST(SlowPhase, NoiseStaysGaussianWithMeanZero) {
  TestSeries series = magnitudes_and_phases([](int, int) { return 0.0; }, 1);
  make_complex(series.samples());
  double sum = 0, squares = 0, imaginary_squares = 0, product = 0;
  for (std::size_t i = 0; i < half; ++i) {
    const double a = series.values[i], b = series.values[half + i];
    sum += a, squares += a * a, imaginary_squares += b * b, product += a * b;
  }
  const double count = half, error = 1 / std::sqrt(count);
  EXPECT_NEAR(sum / count, 0, 4 * error);  // 0.22 if the filter contained the sample itself
  EXPECT_NEAR(squares / count, 1, 6 * error);
  EXPECT_NEAR(imaginary_squares / count, 1, 6 * error);
  EXPECT_NEAR(product / count, 0, 4 * error);
}

TEST(SlowPhase, MissingSamplesAreMissingInBothPartsOnly) {
  TestSeries series = magnitudes_and_phases([](int, int) { return 50.0; }, 1);
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  series.values[777] = nan;
  series.values[half + 1234] = nan;
  make_complex(series.samples());
  for (std::size_t i = 0; i < half; ++i) {
    const bool missing = i == 777 || i == 1234;
    ASSERT_EQ(std::isnan(series.values[i]), missing) << i;
    ASSERT_EQ(std::isnan(series.values[half + i]), missing) << i;
  }
}

TEST(SlowPhase, ResultDoesNotDependOnThreads) {
  const auto result = [](int threads) {
    TestSeries series =
        magnitudes_and_phases([](int x, int) { return std::polar(9.0, 0.2 * x); }, 1);
    test::with_threads(threads, [&] {
      make_complex(series.samples());
      return 0;
    });
    return series.values;
  };
  EXPECT_EQ(result(1), result(4));
}

}  // namespace
}  // namespace lull::series
