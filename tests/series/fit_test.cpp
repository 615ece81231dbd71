#include "series/fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "series/test_series.h"

namespace lull::series {
namespace {

using test::TestSeries;

constexpr Shape shape{.width = 32, .height = 28, .slices = 20, .volumes = 24};

TestSeries noisy_series(const Shape& of = shape) {
  TestSeries series(of);
  test::Normal normal;
  series.fill([&](int v, int x, int y, int z) {
    return test::three_components(v, x, y, z) + 4 * normal();
  });
  return series;
}

TEST(SeriesFit, BasisSpansTheSignal) {
  TestSeries series = noisy_series();
  const Fit fit = fit_series(series.samples(), test::gaussian(shape.volumes, 4), {});
  EXPECT_EQ(fit.spectrum.components, 3);
  EXPECT_EQ(fit.combined, shape.volumes);
  EXPECT_EQ(fit.basis.components(), 16);  // at least this number is filtered
  EXPECT_EQ(fit.eigenvalues.size(), 24u);
  // The weights of each component over the volumes lie in the span of the first three directions.
  for (int k = 0; k < 3; ++k) {
    double all = 0, inside = 0;
    for (int v = 0; v < shape.volumes; ++v) all += std::pow(test::weight(k, v), 2);
    for (int i = 0; i < 3; ++i) {
      double product = 0;
      for (int v = 0; v < shape.volumes; ++v)
        product += test::weight(k, v) * fit.basis.direction(i)[v];
      inside += product * product;
    }
    EXPECT_GT(inside, 0.999 * all) << k;
  }
}

TEST(SeriesFit, AllComponentsAreKeptOnRequest) {
  TestSeries series = noisy_series();
  const Fit fit =
      fit_series(series.samples(), test::gaussian(shape.volumes, 4), {.keep_all = true});
  EXPECT_EQ(fit.basis.components(), shape.volumes);
  for (int i = 0; i < shape.volumes; ++i) EXPECT_NEAR(fit.basis.leverage(i), 1, 1e-12);
}

TEST(SeriesFit, VolumeWithOtherContentIsAComponentOfItsOwn) {
  TestSeries series = noisy_series();
  test::Normal normal;
  // Volume 5 shows small boxes.
  std::size_t at = 5 * shape.voxels();
  for (int z = 0; z < shape.slices; ++z)
    for (int y = 0; y < shape.height; ++y)
      for (int x = 0; x < shape.width; ++x)
        series.values[at++] =
            static_cast<float>(120 + ((x / 2 + y / 2 + z / 2) % 2 ? 60 : -60) + 4 * normal());
  SeriesNoise noise = test::gaussian(shape.volumes, 4);
  noise.levels[5] = 4.5;
  const Fit fit = fit_series(series.samples(), noise, {});
  EXPECT_EQ(fit.combined, shape.volumes - 1);
  EXPECT_EQ(fit.noise.levels[5], 4.5f);  // it keeps its level
  const double* last = fit.basis.direction(fit.basis.components() - 1);
  for (int v = 0; v < shape.volumes; ++v) EXPECT_EQ(last[v], v == 5 ? 1 : 0);
  for (int k = 0; k + 1 < fit.basis.components(); ++k) EXPECT_EQ(fit.basis.direction(k)[5], 0);
}

TEST(SeriesFit, RemovedVolumesAreComponentsOfTheirOwn) {
  TestSeries series = noisy_series();
  Fit fit = fit_series(series.samples(), test::gaussian(shape.volumes, 4), {.refine = false});
  fit.doubtful = {2, 7, 9};
  fit.separate.levels[7] = 5;
  const Fit rest = without_volumes(series.samples(), fit, {2, 7}, {.refine = false});
  EXPECT_EQ(rest.combined, shape.volumes - 2);
  EXPECT_EQ(rest.doubtful, std::vector<int>{9});
  EXPECT_EQ(rest.noise.levels[7], 5);
  EXPECT_EQ(rest.noise.levels[2], 4);
  for (int v = 0; v < shape.volumes; ++v)
    EXPECT_EQ(rest.basis.is_separate(v), v == 2 || v == 7) << v;
  EXPECT_EQ(rest.spectrum.components, 3);
  const Fit none =
      without_volumes(series.samples(), fit, test::all_volumes(shape.volumes), {.refine = false});
  for (int v = 0; v < shape.volumes; ++v) EXPECT_TRUE(none.basis.is_separate(v)) << v;
  EXPECT_TRUE(none.doubtful.empty());
}

TEST(SeriesFit, LevelOfFewVolumesExcludesSmoothSignalInAllComponents) {
  constexpr Shape few{.width = 32, .height = 28, .slices = 20, .volumes = 9};
  TestSeries series(few);
  test::Normal normal;
  series.fill([&](int v, int x, int y, int z) {
    double sum = 120 + 4 * normal();
    for (int k = 0; k < few.volumes; ++k)
      sum += 8 * std::cos(13.0 * v + 78.2 * k + 1.7 * v * k) *
             std::sin((0.1 + 0.03 * k) * x + (0.3 - 0.02 * k) * y + 0.1 * z + k);
    return sum;
  });
  const Fit fit = fit_series(series.samples(), test::gaussian(few.volumes, 4.6f), {});
  EXPECT_GT(fit.spectrum.components, 6);
  for (const float level : fit.noise.levels) EXPECT_NEAR(level, 4, 0.12);
}

TEST(SeriesFit, FindsHigherNoiseOfSomeVolumes) {
  // The noise of these volumes determines the first components, so the residuals contain hardly any
  // of it.
  const Shape twelve{.width = 32, .height = 28, .slices = 20, .volumes = 12};
  const auto level = [](int v) { return v % 3 == 1 ? 6.0 : 4.0; };
  TestSeries series(twelve);
  test::Normal normal;
  series.fill([&](int v, int x, int y, int z) {
    return test::three_components(v, x, y, z) + level(v) * normal();
  });
  SeriesNoise estimates = test::gaussian(twelve.volumes, 0);
  for (int v = 0; v < twelve.volumes; ++v)
    estimates.levels[v] = static_cast<float>(v % 3 == 1 ? 5.9 : 3.7);
  const Fit fit = fit_series(series.samples(), estimates, {});
  for (int v = 0; v < twelve.volumes; ++v)
    EXPECT_NEAR(fit.noise.levels[v], level(v), 0.15 * level(v)) << v;
}

TEST(SeriesFit, FindsHigherRicianNoiseOfSomeVolumes) {
  const Shape twelve{.width = 32, .height = 28, .slices = 20, .volumes = 12};
  const auto level = [](int v) { return v % 3 == 1 ? 36.0 : 20.0; };
  TestSeries series(twelve);
  test::Normal normal;
  series.fill([&](int v, int x, int y, int z) {
    return std::hypot(test::three_components(v, x, y, z) + level(v) * normal(),
                      level(v) * normal());
  });
  SeriesNoise estimates = test::gaussian(twelve.volumes, 24);
  estimates.kind = NoiseKind::rician;
  const Fit fit = fit_series(series.samples(), estimates, {});
  for (int v = 0; v < twelve.volumes; ++v)
    EXPECT_NEAR(fit.noise.levels[v], level(v), 0.08 * level(v)) << v;
  EXPECT_EQ(fit.combined, twelve.volumes);
}

/// Returns a smooth random texture with a standard deviation of about 1.
std::vector<double> texture(const Shape& of) {
  test::Normal normal;
  std::vector<double> values(of.voxels());
  for (double& value : values) value = normal();
  for (const std::size_t step : {std::size_t{1}, static_cast<std::size_t>(of.width),
                                 static_cast<std::size_t>(of.width) * of.height})
    for (int pass = 0; pass < 3; ++pass) {
      const std::vector<double> from = values;
      for (std::size_t i = step; i + step < values.size(); ++i)
        values[i] = (from[i - step] + from[i] + from[i + step]) / 3;
    }
  double squares = 0;
  for (const double value : values) squares += value * value;
  for (double& value : values) value /= std::sqrt(squares / static_cast<double>(values.size()));
  return values;
}

TEST(SeriesFit, SeparateVolumesKeepALowerEstimate) {
  const Shape nine{.width = 48, .height = 52, .slices = 24, .volumes = 9};
  TestSeries series(nine);
  const std::vector<double> t = texture(nine);
  const std::array<double (*)(double), 9> contrasts{[](double x) { return x; },
                                                    [](double x) { return x * x; },
                                                    [](double x) { return std::tanh(2 * x); },
                                                    [](double x) { return std::exp(-x * x); },
                                                    [](double x) { return std::sin(2 * x); },
                                                    [](double x) { return x > 0.3 ? 1.0 : 0.0; },
                                                    [](double x) { return std::abs(x); },
                                                    [](double x) { return std::sin(3 * x + 1); },
                                                    [](double x) { return x * x * x / 4; }};
  const std::array<double, 9> sigmas{40, 10, 25, 60, 12, 30, 8, 20, 50};
  const std::array<double, 9> ranges{8, 16, 2, 1, 2, 1, 4, 2, 32};
  test::Normal normal;
  series.fill([&](int v, int x, int y, int z) {
    const std::size_t at = (static_cast<std::size_t>(z) * nine.height + y) * nine.width + x;
    return 600 * contrasts[v](t[at]) / ranges[v] + 600 + sigmas[v] * normal();
  });
  SeriesNoise estimates = test::gaussian(nine.volumes, 0);
  for (int v = 0; v < nine.volumes; ++v) estimates.levels[v] = static_cast<float>(sigmas[v]);
  // Estimates of single volumes can include fine structure.
  estimates.levels[4] = 21;
  estimates.levels[7] = 150;
  const Fit fit = fit_series(series.samples(), estimates, {});
  for (int v = 0; v < nine.volumes; ++v) EXPECT_LE(fit.noise.levels[v], estimates.levels[v]) << v;
  EXPECT_LT(fit.noise.levels[7], 60);
}

TEST(SeriesFit, CopiesOfVolumesDoNotLowerTheNoiseLevels) {
  const Shape nine{.width = 32, .height = 28, .slices = 20, .volumes = 9};
  TestSeries series(nine);
  test::Normal normal;
  series.fill([&](int v, int x, int y, int z) {
    return test::three_components(v, x, y, z) + (v == 4 ? 12 : 6) * normal();
  });
  for (const int copy : {6, 7, 8})  // volumes 1, 2 and 3 once more
    std::copy_n(series.values.begin() + (copy - 5) * nine.voxels(), nine.voxels(),
                series.values.begin() + copy * nine.voxels());
  const Fit fit = fit_series(series.samples(), test::gaussian(nine.volumes, 6), {});
  for (int v = 0; v < nine.volumes; ++v) EXPECT_GT(fit.noise.levels[v], 3) << v;
}

TEST(SeriesFit, VolumesOfTwoGroupsHaveEqualNoiseInPairs) {
  TestSeries series = noisy_series();
  constexpr int half = shape.volumes / 2;
  SeriesNoise noise = test::gaussian(shape.volumes, 4);
  noise.levels[1] = 9;  // an estimate that contains signal
  const Fit fit = fit_series(series.samples(), noise, {.refine = false, .second_group = half});
  EXPECT_EQ(fit.noise.levels, std::vector<float>(shape.volumes, 4));
  EXPECT_EQ(fit_series(series.samples(), noise, {.refine = false}).noise.levels[1], 9);
  for (int k = 0; k < fit.basis.components(); ++k) {
    double energy = 0;  // in the second group
    for (int v = half; v < shape.volumes; ++v) energy += std::pow(fit.basis.direction(k)[v], 2);
    EXPECT_TRUE(energy == 0 || std::abs(energy - 1) < 1e-9) << k;
  }
}

TEST(SeriesFit, FindsTheLevelsOfVolumesInTwoGroups) {
  constexpr int half = shape.volumes / 2;
  const auto level = [](int v) { return 3.0 + 0.5 * (v % half); };
  TestSeries series(shape);
  test::Normal normal;
  series.fill([&](int v, int x, int y, int z) {
    const double signal = test::three_components(v % half, x, y, z);
    return (v < half ? signal : 0.1 * signal) + level(v) * normal();
  });
  const Fit fit =
      fit_series(series.samples(), test::gaussian(shape.volumes, 5.5f), {.second_group = half});
  for (int v = 0; v < shape.volumes; ++v)
    EXPECT_NEAR(fit.noise.levels[v], level(v), 0.08 * level(v)) << v;
}

TEST(SeriesFit, VolumesWithoutNoiseTakeNoPart) {
  TestSeries series = noisy_series();
  SeriesNoise noise = test::gaussian(shape.volumes, 4);
  noise.levels[0] = noise.levels[7] = 0;
  for (std::size_t i = 0; i < shape.voxels(); ++i)
    series.at(7, i) = std::numeric_limits<float>::quiet_NaN();
  const Fit fit = fit_series(series.samples(), noise, {});
  EXPECT_EQ(fit.basis.size(), shape.volumes - 2);
  EXPECT_EQ(fit.basis.volumes()[0], 1);
  EXPECT_EQ(fit.noise.levels[7], 0);
  EXPECT_EQ(fit.spectrum.components, 3);
}

TEST(SeriesFit, IsEqualForAnyNumberOfThreads) {
  TestSeries series = noisy_series();
  const auto fit = [&] {
    return fit_series(series.samples(), test::gaussian(shape.volumes, 5), {});
  };
  const Fit one = test::with_threads(1, fit), four = test::with_threads(4, fit);
  EXPECT_EQ(one.noise.levels, four.noise.levels);
  EXPECT_EQ(one.eigenvalues, four.eigenvalues);
  ASSERT_EQ(one.basis.components(), four.basis.components());
  for (int k = 0; k < one.basis.components(); ++k)
    for (int v = 0; v < shape.volumes; ++v)
      EXPECT_EQ(one.basis.direction(k)[v], four.basis.direction(k)[v]);
}

TEST(SeriesFit, AcceptsFewVoxels) {
  TestSeries series = noisy_series({.width = 5, .height = 4, .slices = 2, .volumes = 60});
  const Fit fit = fit_series(series.samples(), test::gaussian(60, 4), {});
  EXPECT_LE(fit.basis.components(), 60);
  EXPECT_GE(fit.basis.components(), 3);
}

}  // namespace
}  // namespace lull::series
