#include "series/covariance.h"

#include <gtest/gtest.h>

#include "series/test_series.h"

namespace lull::series {
namespace {

using test::TestSeries;

constexpr Shape shape{.width = 23, .height = 19, .slices = 13, .volumes = 21};

TestSeries noisy_series() {
  TestSeries series(shape);
  test::Normal normal;
  series.fill([&](int v, int x, int y, int z) {
    return test::three_components(v, x, y, z) + 4 * normal();
  });
  return series;
}

/// The definition, in double precision.
Moments reference(TestSeries& series, const Stabiliser& stabiliser, const std::vector<int>& volumes,
                  const std::vector<std::uint32_t>& voxels) {
  const std::size_t count = volumes.size();
  Moments moments{.count = static_cast<double>(voxels.size()),
                  .means = std::vector<double>(count),
                  .covariance = std::vector<double>(count * count)};
  const auto value = [&](std::size_t i, std::uint32_t voxel) {
    return static_cast<double>(stabiliser.forward(volumes[i], voxel, series.at(volumes[i], voxel)));
  };
  for (std::size_t i = 0; i < count; ++i)
    for (const std::uint32_t voxel : voxels) moments.means[i] += value(i, voxel) / moments.count;
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < count; ++j)
      for (const std::uint32_t voxel : voxels)
        moments.covariance[i * count + j] += (value(i, voxel) - moments.means[i]) *
                                             (value(j, voxel) - moments.means[j]) / moments.count;
  return moments;
}

void expect_equal(const Moments& a, const Moments& b, double tolerance) {
  ASSERT_EQ(a.covariance.size(), b.covariance.size());
  EXPECT_EQ(a.count, b.count);
  for (std::size_t i = 0; i < a.means.size(); ++i) EXPECT_NEAR(a.means[i], b.means[i], tolerance);
  for (std::size_t i = 0; i < a.covariance.size(); ++i)
    EXPECT_NEAR(a.covariance[i], b.covariance[i], tolerance) << i;
}

TEST(Covariance, MatchesTheDefinition) {
  TestSeries series = noisy_series();
  SeriesNoise noise = test::gaussian(shape.volumes, 4);
  noise.levels[3] = 2;
  const Stabiliser stabiliser(noise, shape);
  const auto voxels = test::all_voxels(shape);
  const auto volumes = test::all_volumes(shape.volumes);
  expect_equal(moments_of(series.samples(), stabiliser, volumes, voxels),
               reference(series, stabiliser, volumes, voxels), 1e-8);
}

TEST(Covariance, UsesTheGivenVolumesAndVoxelsOnly) {
  TestSeries series = noisy_series();
  SeriesNoise noise = test::gaussian(shape.volumes, 4);
  noise.kind = NoiseKind::rician;
  const Stabiliser stabiliser(noise, shape);
  const std::vector<int> volumes{0, 4, 5, 9, 20};
  std::vector<std::uint32_t> voxels;
  for (std::uint32_t i = 5; i < shape.voxels(); i += 3) voxels.push_back(i);
  series.at(4, 6) = std::numeric_limits<float>::quiet_NaN();  // not among the voxels
  series.at(1, 5) = std::numeric_limits<float>::quiet_NaN();  // not among the volumes
  expect_equal(moments_of(series.samples(), stabiliser, volumes, voxels),
               reference(series, stabiliser, volumes, voxels), 1e-8);
}

TEST(Covariance, IsEqualForAnyNumberOfThreads) {
  TestSeries series = noisy_series();
  const Stabiliser stabiliser(test::gaussian(shape.volumes, 4), shape);
  const auto voxels = test::all_voxels(shape);
  const auto volumes = test::all_volumes(shape.volumes);
  const auto compute = [&] { return moments_of(series.samples(), stabiliser, volumes, voxels); };
  const Moments one = test::with_threads(1, compute), four = test::with_threads(4, compute);
  EXPECT_EQ(one.means, four.means);
  EXPECT_EQ(one.covariance, four.covariance);
}

}  // namespace
}  // namespace lull::series
