#include "series/spectrum/spectrum.h"

#include <gtest/gtest.h>

#include "series/covariance.h"
#include "series/spectrum/symmetric_eigen.h"
#include "series/test_series.h"

namespace lull::series {
namespace {

using test::TestSeries;

std::vector<double> eigenvalues(TestSeries& series, float level = 1) {
  const int volumes = series.shape.volumes;
  const Stabiliser stabiliser(test::gaussian(volumes, level), series.shape);
  return eigen_of_symmetric(moments_of(series.samples(), stabiliser, test::all_volumes(volumes),
                                       test::all_voxels(series.shape))
                                .covariance,
                            volumes)
      .values;
}

constexpr Shape shape{.width = 24, .height = 20, .slices = 16, .volumes = 30};

TEST(Spectrum, NoiseAloneHasNoComponents) {
  TestSeries series(shape);
  test::Normal normal;
  series.fill([&](int, int, int, int) { return 2 * normal(); });
  const Spectrum spectrum = analyse_spectrum(eigenvalues(series), shape.voxels());
  EXPECT_EQ(spectrum.components, 0);
  EXPECT_NEAR(spectrum.variance, 4, 0.05);
}

TEST(Spectrum, ThreeComponentsAreFound) {
  TestSeries series(shape);
  test::Normal normal;
  series.fill([&](int v, int x, int y, int z) {
    return test::three_components(v, x, y, z) + 6 * normal();
  });
  const auto values = eigenvalues(series, 3);
  const Spectrum spectrum = analyse_spectrum(values, shape.voxels());
  EXPECT_EQ(spectrum.components, 3);
  EXPECT_NEAR(spectrum.variance, 4, 0.05);
  EXPECT_GT(values[2], spectrum.edge);
  EXPECT_LT(values[3], spectrum.edge);
  // With a known variance the edge is that of this variance.
  EXPECT_EQ(analyse_spectrum(values, shape.voxels(), 4.0).components, 3);
  EXPECT_EQ(analyse_spectrum(values, shape.voxels(), 1.0).components, shape.volumes);
  EXPECT_EQ(analyse_spectrum(values, shape.voxels(), 1e9).components, 0);
}

TEST(Spectrum, NoiseWhoseLevelVariesIsNotTakenForSignal) {
  TestSeries series({.width = 32, .height = 32, .slices = 20, .volumes = 40});
  test::Normal normal;
  series.fill([&](int v, int x, int y, int z) {
    return test::three_components(v, x, y, z) + (1 + 0.1 * x) * normal();
  });
  EXPECT_EQ(analyse_spectrum(eigenvalues(series), series.shape.voxels()).components, 3);
}

TEST(Spectrum, AcceptsFewerVoxelsThanVolumes) {
  TestSeries series({.width = 4, .height = 4, .slices = 2, .volumes = 100});
  test::Normal normal;
  series.fill([&](int v, int x, int, int) { return 9 * x * std::sin(0.3 * v) + normal(); });
  const Spectrum spectrum = analyse_spectrum(eigenvalues(series), 32);
  EXPECT_EQ(spectrum.components, 1);
  EXPECT_NEAR(spectrum.variance, 1, 0.1);
}

TEST(Spectrum, AcceptsNoValuesAndVolumesWithoutNoise) {
  EXPECT_EQ(analyse_spectrum({}, 100).components, 0);
  const std::vector<double> zeros(5);
  EXPECT_EQ(analyse_spectrum(zeros, 100).components, 0);
  // A volume that depends on the others has an eigenvalue of 0.
  const std::vector<double> dependent{50, 1.02, 1.01, 1, 0.99, 0.98, 0};
  EXPECT_EQ(analyse_spectrum(dependent, 10'000).components, 1);
}

}  // namespace
}  // namespace lull::series
