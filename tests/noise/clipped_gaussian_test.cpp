#include "noise/clipped_gaussian.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace lull {
namespace {

/// Computes the moments from their definition: samples of intensity t, clipped at 0, integrated
/// over the noise.
struct Moments {
  double mean = 0, variance = 0, clipped_share = 0;
};
Moments moments_of(double t) {
  constexpr double step = 1e-4;
  Moments moments;
  double square = 0;
  for (double n = -9; n < 9; n += step) {
    const double weight = step * std::exp(-n * n / 2) / std::sqrt(2 * std::numbers::pi);
    const double z = std::max(t + n, 0.0);
    moments.mean += weight * z;
    square += weight * z * z;
    moments.clipped_share += z == 0 ? weight : 0;
  }
  moments.variance = square - moments.mean * moments.mean;
  return moments;
}

TEST(ClippedGaussian, RecoversTheIntensityFromTheMean) {
  for (const double t : {-2.0, -0.5, 0.0, 0.3, 1.0, 2.5, 4.0}) {
    const Moments expected = moments_of(t);
    const ClippedGaussian found = clipped_gaussian(expected.mean);
    EXPECT_NEAR(found.intensity, t, 2e-3) << t;
    EXPECT_NEAR(found.variance, expected.variance, 2e-4) << t;
    EXPECT_NEAR(found.clipped_share, expected.clipped_share, 1e-3) << t;
  }
}

TEST(ClippedGaussian, IsUnclippedFarFromTheLimit) {
  for (const double distance : {6.5, 40.0, std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(clipped_gaussian(distance).variance, 1);
    EXPECT_EQ(clipped_gaussian(distance).clipped_share, 0);
  }
}

TEST(ClippedGaussian, IsAlmostCompletelyClippedAtTheLimit) {
  for (const double distance : {-1.0, 0.0, 1e-9}) {
    EXPECT_NEAR(clipped_gaussian(distance).variance, 0, 1e-4);
    EXPECT_NEAR(clipped_gaussian(distance).clipped_share, 1, 1e-4);
  }
}

}  // namespace
}  // namespace lull
