#include "series/risk.h"

#include <gtest/gtest.h>

#include "series/covariance.h"
#include "series/test_series.h"

namespace lull::series {
namespace {

using test::TestSeries;

constexpr Shape shape{.width = 28, .height = 24, .slices = 16, .volumes = 12};

Risks risks_of(TestSeries& series, int components) {
  const Stabiliser stabiliser(test::gaussian(shape.volumes, 1), shape);
  const auto volumes = test::all_volumes(shape.volumes);
  const auto voxels = test::all_voxels(shape);
  const Moments moments = moments_of(series.samples(), stabiliser, volumes, voxels);
  const EigenSystem eigen = eigen_of_symmetric(moments.covariance, shape.volumes);
  return estimate_risks(series.samples(), stabiliser, volumes, moments.means, eigen, components,
                        voxels);
}

TEST(Risk, CommonContentIsFilteredBetterTogether) {
  TestSeries series(shape);
  test::Normal normal;
  series.fill(
      [&](int v, int x, int y, int z) { return test::three_components(v, x, y, z) + normal(); });
  const Risks risks = risks_of(series, 3);
  ASSERT_EQ(risks.alone.size(), 12u);
  for (int v = 0; v < shape.volumes; ++v) {
    EXPECT_LT(risks.together[v], risks.alone[v] - 2 * risks.error[v]) << v;
  }
}

TEST(Risk, UnrelatedContentIsFilteredBetterAlone) {
  // Stripes of random contrast, whose direction differs from volume to volume.
  TestSeries series(shape);
  test::Normal normal;
  std::vector<double> boxes(12 * 7 * 6 * 4);
  for (double& box : boxes) box = 12 * normal();
  series.fill([&](int v, int x, int y, int z) {
    const int place = (v & 1 ? x : 0) + (v & 2 ? y : 0) + (v & 4 ? z : 0) + (v & 8 ? x - y : 0);
    return boxes[((v * 4 + z / 4) * 6 + y / 4) * 7 + x / 4] * (place & 2 ? 1 : -1) + normal();
  });
  const Risks risks = risks_of(series, shape.volumes);
  for (int v = 0; v < shape.volumes; ++v)
    EXPECT_GT(risks.together[v], risks.alone[v] + 2 * risks.error[v]) << v;
}

TEST(Risk, EstimatesTheErrorOfNoise) {
  // Without signal the error of the soft threshold t is 2 ((1 + t^2) Q(t) - t phi(t)) = 0.0457 for
  // t = 1.5, also of components; dropped components have no error.
  TestSeries series(shape);
  test::Normal normal;
  series.fill([&](int, int, int, int) { return normal(); });
  const Risks all = risks_of(series, shape.volumes), none = risks_of(series, 0);
  double alone = 0, together = 0, dropped = 0;
  for (int v = 0; v < shape.volumes; ++v) {
    alone += all.alone[v] / shape.volumes;
    together += all.together[v] / shape.volumes;
    dropped += none.together[v] / shape.volumes;
    EXPECT_LT(std::abs(all.together[v] - all.alone[v]), 4 * all.error[v]);
  }
  EXPECT_NEAR(alone, 0.0457, 0.012);
  EXPECT_NEAR(together, 0.0457, 0.012);
  EXPECT_NEAR(dropped, 0, 0.012);
}

TEST(Risk, IsEmptyWithoutCompleteCubes) {
  TestSeries series({.width = 20, .height = 20, .slices = 3, .volumes = 4});
  const Stabiliser stabiliser(test::gaussian(4, 1), series.shape);
  const auto volumes = test::all_volumes(4);
  const EigenSystem eigen = eigen_of_symmetric(std::vector<double>(16), 4);
  EXPECT_TRUE(estimate_risks(series.samples(), stabiliser, volumes, std::vector<double>(4), eigen,
                             4, test::all_voxels(series.shape))
                  .alone.empty());
}

TEST(Risk, IsEqualForAnyNumberOfThreads) {
  TestSeries series(shape);
  test::Normal normal;
  series.fill(
      [&](int v, int x, int y, int z) { return test::three_components(v, x, y, z) + normal(); });
  const Risks one = test::with_threads(1, [&] { return risks_of(series, 5); });
  const Risks four = test::with_threads(4, [&] { return risks_of(series, 5); });
  EXPECT_EQ(one.alone, four.alone);
  EXPECT_EQ(one.together, four.together);
}

}  // namespace
}  // namespace lull::series
