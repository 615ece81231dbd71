#include "series/filter/residual_fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/series/test_series.h"

namespace lull::series {
namespace {

using namespace test;

constexpr Shape shape{.width = 16, .height = 16, .slices = 8, .volumes = 5};

/// Signals of the components. The first two are strong.
double signal(int k, int x, int y, int z) {
  switch (k) {
    case 0:
      return 20 * std::sin(0.4 * x + 0.3 * z);
    case 1:
      return 12 * std::cos(0.5 * y);
    case 2:
      return 0.5 * std::sin(0.7 * (x + y));
    default:
      return 0;
  }
}

/// Replaces noisy components by filtered ones, slice by slice.
void filter(TestSeries& noisy, const TestSeries& filtered, ResidualFit& fit) {
  const std::size_t slice = shape.slice_voxels();
  for (int k = 0; k < shape.volumes; ++k) {
    for (int z = 0; z < shape.slices; ++z) {
      const float* from = filtered.values.data() + k * shape.voxels() + z * slice;
      fit.add(k, z, from);
      std::copy_n(from, slice, &noisy.at(k, z * slice));
    }
    fit.finish(k);
  }
}

double rms_error(TestSeries& series, int k) {
  double sum = 0;
  std::size_t voxel = 0;
  for (int z = 0; z < shape.slices; ++z)
    for (int y = 0; y < shape.height; ++y)
      for (int x = 0; x < shape.width; ++x, ++voxel) {
        const double error = static_cast<double>(series.at(k, voxel)) - signal(k, x, y, z);
        sum += error * error;
      }
  return std::sqrt(sum / static_cast<double>(shape.voxels()));
}

class SeriesResidualFit : public ::testing::Test {
 protected:
  SeriesResidualFit() {
    Normal normal;
    noisy.fill([&](int k, int x, int y, int z) { return signal(k, x, y, z) + normal(); });
    // The filter shrinks strong signals and adds a part of component 0 to component 3.
    filtered.fill([](int k, int x, int y, int z) {
      return 0.9 * signal(k, x, y, z) + (k == 3 ? 0.05 * signal(0, x, y, z) : 0);
    });
  }

  TestSeries noisy{shape}, filtered{shape};
  const std::vector<bool> everywhere = std::vector<bool>(shape.voxels(), true);
};

TEST_F(SeriesResidualFit, RestoresShrunkStrongComponents) {
  ResidualFit fit(noisy.samples(), everywhere);
  EXPECT_GT(rms_error(filtered, 0), 1);
  filter(noisy, filtered, fit);
  EXPECT_LT(rms_error(noisy, 0), 0.1);
  EXPECT_LT(rms_error(noisy, 1), 0.1);
}

TEST_F(SeriesResidualFit, RemovesStrongComponentsFromWeakOnes) {
  ResidualFit fit(noisy.samples(), everywhere);
  EXPECT_GT(rms_error(filtered, 3), 0.6);
  filter(noisy, filtered, fit);
  EXPECT_LT(rms_error(noisy, 3), 0.1);
}

TEST_F(SeriesResidualFit, AddsHardlyAnyNoise) {
  ResidualFit fit(noisy.samples(), everywhere);
  filter(noisy, filtered, fit);
  EXPECT_LT(rms_error(noisy, 2), 0.1);
  EXPECT_LT(rms_error(noisy, 4), 0.1);
}

TEST_F(SeriesResidualFit, ChangesOnlyTheObject) {
  std::vector<bool> object = everywhere;
  const std::size_t outside = shape.slice_voxels();
  std::fill_n(object.begin(), outside, false);
  ResidualFit fit(noisy.samples(), object);
  filter(noisy, filtered, fit);
  for (std::size_t voxel = 0; voxel < outside; ++voxel)
    EXPECT_EQ(noisy.at(0, voxel), filtered.at(0, voxel)) << voxel;
  EXPECT_NE(noisy.at(0, outside + 1), filtered.at(0, outside + 1));
}

TEST_F(SeriesResidualFit, ChangesNothingInSmallObjects) {
  std::vector<bool> object(shape.voxels(), false);
  std::fill_n(object.begin(), 499, true);
  ResidualFit fit(noisy.samples(), object);
  filter(noisy, filtered, fit);
  EXPECT_EQ(noisy.values, filtered.values);
}

}  // namespace
}  // namespace lull::series
