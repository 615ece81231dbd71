#include "noise/patch_covariance.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bm3d/transforms.h"
#include "support/coloured_noise.h"

namespace lull {
namespace {

using test_support::blurred_noise;
using test_support::ColouredNoise;
using test_support::slanted_correlation;

/// Returns the covariance of coefficient (v, u) by definition: a sum over all pairs of samples of
/// the two patches.
double direct(const PlaneNoise& noise, const AxisTransform& rows, int side, int v, int u, int dx,
              int dy) {
  double sum = 0;
  for (int a = 0; a < side * side; ++a)
    for (int b = 0; b < side * side; ++b)
      sum += rows[v][a / side] * rows[u][a % side] * rows[v][b / side] * rows[u][b % side] *
             noise.correlation_at(b % side - a % side + dx, b / side - a / side + dy);
  return sum;
}

TEST(PatchCovariance, IsTheSumOverAllPairsOfSamples) {
  const PlaneNoise blurred{20, blurred_noise(8, 8, 1, true, false).correlation};
  const PlaneNoise slanted{20, slanted_correlation()}, white{20, nullptr};
  for (const PlaneNoise* noise : {&blurred, &slanted, &white})
    for (const bm3d::Transform transform : {bm3d::Transform::dct, bm3d::Transform::bior}) {
      const AxisTransform rows = bm3d::axis_rows(transform);
      const PatchCovariance covariance(*noise, rows);
      for (const auto& [dx, dy] : {std::pair{0, 0}, {1, 0}, {0, -1}, {3, 2}, {-3, 2}, {7, -7}})
        for (int k = 0; k < 64; k += 3) {
          const double expected = direct(*noise, rows, 8, k / 8, k % 8, dx, dy);
          EXPECT_NEAR(covariance.at(dx, dy)[k], expected, 2e-6) << dx << ", " << dy << ": " << k;
          EXPECT_EQ(covariance.at(-dx, -dy)[k], covariance.at(dx, dy)[k]);
        }
    }
}

// The covariance is compared with measured noise: many patches of noise are transformed.
TEST(PatchCovariance, IsTheVarianceOfEachCoefficientOfOnePatch) {
  for (const bm3d::Transform transform : {bm3d::Transform::dct, bm3d::Transform::bior}) {
    const ColouredNoise noise = blurred_noise(640, 480, 7, true, false);
    const PatchCovariance covariance({noise.sigma, noise.correlation}, bm3d::axis_rows(transform));
    std::array<double, 64> expected;
    for (int i = 0; i < 64; ++i)
      expected[i] = static_cast<double>(noise.sigma) * std::sqrt(covariance.at(0, 0)[i]);
    const auto forward = bm3d::real_transform(transform).forward;
    std::array<double, 64> energy{};
    int patches = 0;
    for (int y = 0; y + 8 <= 480; y += 5)
      for (int x = 0; x + 8 <= 640; x += 5, ++patches) {
        bm3d::PatchValues<double> values;
        for (int i = 0; i < 64; ++i)
          values[i] = static_cast<double>(noise.samples.view()(x + i % 8, y + i / 8));
        bm3d::transform_patch(forward, values);
        for (int i = 0; i < 64; ++i) energy[i] += values[i] * values[i];
      }
    for (int i = 0; i < 64; ++i)
      EXPECT_NEAR(std::sqrt(energy[i] / patches), expected[i], 0.05 * expected[i] + 0.02) << i;
    EXPECT_GT(expected[1 * 8 + 0], 2 * expected[0 * 8 + 7]) << "blurred along x, not along y";
  }
}

TEST(PatchCovariance, ReachesAsFarAsNoiseIsShared) {
  const AxisTransform rows = bm3d::axis_rows(bm3d::Transform::dct);
  const PlaneNoise slanted{5, slanted_correlation()};
  const PatchCovariance far(slanted, rows);
  EXPECT_EQ(far.reach_x(), 14);
  EXPECT_EQ(far.reach_y(), 14);
  EXPECT_TRUE(far.reaches(-14, 14));
  EXPECT_FALSE(far.reaches(15, 0));
  EXPECT_NEAR(far.at(14, 14)[0], direct(slanted, rows, 8, 0, 0, 14, 14), 1e-9);
  EXPECT_GT(far.at(14, 14)[0], 1e-4);
  EXPECT_NEAR(far.at(-14, 14)[0], 0, 1e-12) << "the other diagonal";
  const PatchCovariance near({5, blurred_noise(8, 8, 1, true, false).correlation}, rows);
  EXPECT_EQ(near.reach_x(), 9);
  EXPECT_EQ(near.reach_y(), 7);
}

TEST(PatchCovariance, AcceptsSmallerPatches) {
  const auto matrix = bm3d::real_transform(bm3d::Transform::dct, 4).forward;
  AxisTransform rows{};
  for (int k = 0; k < 4; ++k)
    for (int n = 0; n < 4; ++n) rows[k][n] = matrix.at[k][n];
  const PlaneNoise noise{3, slanted_correlation()};
  const PatchCovariance covariance(noise, rows, 4);
  EXPECT_EQ(covariance.reach_x(), 10);
  ASSERT_EQ(covariance.at(0, 0).size(), 16u);
  for (int k = 0; k < 16; ++k)
    EXPECT_NEAR(covariance.at(2, 1)[k], direct(noise, rows, 4, k / 4, k % 4, 2, 1), 1e-9) << k;
}

// An estimated autocorrelation may be one that no noise can have, and some noise has no energy in a
// coefficient.
TEST(PatchCovariance, HasALowerBoundOfVariance) {
  auto none = std::make_shared<Autocorrelation>();
  none->fill(-1);
  none->at(lag_index(0, 0)) = 1;
  const PatchCovariance covariance({5, none}, bm3d::axis_rows(bm3d::Transform::dct));
  EXPECT_EQ(covariance.at(0, 0)[0], min_coefficient_variance);
  for (const double variance : covariance.at(0, 0)) EXPECT_GT(variance, 0);
}

}  // namespace
}  // namespace lull
