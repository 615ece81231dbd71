#include "series/decomposition.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "series/test_series.h"

namespace lull::series {
namespace {

constexpr int volumes = 40, first_group = 25;
constexpr double count = 2000;

/// Moments of white noise, and of a signal of variance `strength` in each group. The signals are
/// correlated only by the noise.
Moments noisy_moments(double strength) {
  test::Normal normal;
  Moments moments{.count = count,
                  .means = std::vector<double>(volumes),
                  .covariance = std::vector<double>(volumes * volumes)};
  std::vector<double> sample(volumes);
  for (int n = 0; n < static_cast<int>(count); ++n) {
    const double signals[] = {std::sqrt(strength) * normal(), std::sqrt(strength) * normal()};
    for (int v = 0; v < volumes; ++v)
      sample[v] = normal() +
                  signals[v < first_group ? 0 : 1] * (v < first_group ? 0.2 : 1 / std::sqrt(15.0));
    for (int a = 0; a < volumes; ++a)
      for (int b = 0; b < volumes; ++b)
        moments.covariance[a * volumes + b] += sample[a] * sample[b] / count;
  }
  return moments;
}

TEST(SeriesDecomposition, ComponentsOfTwoGroupsAreZeroInTheOtherGroup) {
  const Decomposition found = decompose(noisy_moments(2), first_group, 1.0);
  ASSERT_EQ(found.eigen.values.size(), std::size_t{volumes});
  EXPECT_EQ(found.spectrum.components, 2);
  for (int k = 0; k < volumes; ++k) {
    const double* vector = found.eigen.vector(k);
    double energy[2] = {};
    for (int v = 0; v < volumes; ++v) energy[v < first_group ? 0 : 1] += vector[v] * vector[v];
    EXPECT_EQ(std::min(energy[0], energy[1]), 0) << k;
    EXPECT_NEAR(std::max(energy[0], energy[1]), 1, 1e-12) << k;
  }
  EXPECT_TRUE(
      std::is_sorted(found.eigen.values.begin() + 2, found.eigen.values.end(), std::greater<>()));
}

TEST(SeriesDecomposition, TwoGroupsShowWeakerSignalsThanOne) {
  Moments moments{.count = count,
                  .means = std::vector<double>(volumes),
                  .covariance = std::vector<double>(volumes * volumes)};
  for (int v = 0; v < volumes; ++v)
    moments.covariance[v * volumes + v] = v == 3 || v == 30 ? 1.3 : 1;
  EXPECT_EQ(decompose(moments, first_group, 1.0).spectrum.components, 2);
  EXPECT_EQ(decompose(moments, 0, 1.0).spectrum.components, 0);  // the edge is 1.33
}

TEST(SeriesDecomposition, OneGroupMayContainAllVolumes) {
  const Moments moments = noisy_moments(2);
  const Decomposition all = decompose(moments, volumes, {}), none = decompose(moments, 0, {});
  EXPECT_EQ(all.eigen.values, none.eigen.values);
  EXPECT_EQ(all.eigen.vectors, none.eigen.vectors);
}

}  // namespace
}  // namespace lull::series
