// Tests the estimate and the stabilisation of photon noise.

#include "noise/volume/photon_noise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/error.h"
#include "core/frame_pool.h"
#include "noise/volume/estimate_photons.h"

namespace lull {
namespace {

constexpr int side = 64, depth = 24;
constexpr FrameFormat format_of_volume() {
  FrameFormat format;
  format.width = format.height = side;
  format.sample = SampleType::f32;
  format.bits = 32;
  format.white = 255;
  return format;
}

/// Returns the cubes of a smooth volume of 2 to 80 photons with this noise, or the squares of its
/// slices.
CubeCollector noisy_cubes(const PhotonNoise& noise, CubeShape shape = CubeShape::cube) {
  std::mt19937 rng{5};
  std::normal_distribution<double> normal;
  CubeCollector collector(format_of_volume(), depth, shape);
  FramePool pool(format_of_volume());
  for (int z = 0; z < depth; ++z) {
    Frame slice = pool.acquire();
    slice.slice = z;
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x) {
        const double wave = std::sin(0.05 * x) * std::cos(0.04 * y + 0.05 * z);
        std::poisson_distribution<int> poisson(2 + 78 * wave * wave);
        slice.plane<float>(0)(x, y) =
            static_cast<float>(noise.gain * poisson(rng) + noise.offset + noise.read * normal(rng));
      }
    collector.add(slice);
  }
  return collector;
}

class PhotonEstimateOf : public testing::TestWithParam<CubeShape> {};

TEST_P(PhotonEstimateOf, CubesAndSquaresFindsGainAndVariance) {
  for (const PhotonNoise& noise :
       {PhotonNoise{2, 10, 1}, PhotonNoise{1.5, 0, 0}, PhotonNoise{0.8, 40, 6}}) {
    const auto found = estimate_photons(noisy_cubes(noise, GetParam()), {});
    ASSERT_TRUE(found);
    EXPECT_NEAR(found->noise.gain, noise.gain, 0.12 * noise.gain);
    for (const double photons : {4.0, 40.0}) {
      const double mean = noise.offset + noise.gain * photons;
      EXPECT_NEAR(found->noise.variance(mean), noise.variance(mean), 0.12 * noise.variance(mean));
    }
    EXPECT_GT(found->bright, found->dark);
  }
}

INSTANTIATE_TEST_SUITE_P(PhotonNoise, PhotonEstimateOf,
                         testing::Values(CubeShape::cube, CubeShape::square));

TEST(PhotonNoise, EstimateKeepsGivenParameters) {
  const auto found =
      estimate_photons(noisy_cubes({2, 10, 1}), {.gain = 2.1, .offset = 9.0, .read = {}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->noise.gain, 2.1);
  EXPECT_EQ(found->noise.offset, 9.0);
}

TEST(PhotonNoise, EstimateNeedsCubes) {
  EXPECT_FALSE(estimate_photons(CubeCollector(format_of_volume(), depth), {}));
}

/// Averages of many stabilised samples, as a perfect filter returns them, must become the mean. The
/// small remaining bias is the correction for filters of patches.
TEST(PhotonStabiliser, InverseReturnsTheMeanOfSamples) {
  for (const PhotonNoise& noise :
       {PhotonNoise{2, 10, 1}, PhotonNoise{1, 0, 0}, PhotonNoise{0.1, 30, 4}}) {
    const PhotonStabiliser stabiliser(noise);
    std::mt19937 rng{7};
    std::normal_distribution<double> normal;
    for (const double photons : {1.0, 3.0, 10.0, 55.0, 100.0}) {
      std::poisson_distribution<int> poisson(photons);
      double sum = 0, square = 0;
      constexpr int count = 200'000;
      for (int i = 0; i < count; ++i) {
        const auto v = static_cast<double>(stabiliser.forward(static_cast<float>(
            noise.gain * poisson(rng) + noise.offset + noise.read * normal(rng))));
        sum += v, square += v * v;
      }
      const double mean = sum / count,
                   found = static_cast<double>(stabiliser.inverse(static_cast<float>(mean)));
      const double expected = noise.offset + noise.gain * photons;
      EXPECT_NEAR(found, expected, 0.1 * noise.gain + 0.005 * noise.gain * photons) << photons;
      if (photons >= 10)
        EXPECT_NEAR(std::sqrt(square / count - mean * mean) / stabiliser.sigma(), 1, 0.03);
    }
  }
}

TEST(PhotonStabiliser, FunctionsAreIncreasingAndKeepNan) {
  for (const PhotonNoise& noise :
       {PhotonNoise{2, 10, 1}, PhotonNoise{200, -50, 0}, PhotonNoise{0.01, 30, 9}}) {
    const PhotonStabiliser stabiliser(noise);
    EXPECT_NEAR(stabiliser.forward(0), 0, 1e-3);
    EXPECT_NEAR(stabiliser.forward(255), 255, 1e-3);
    EXPECT_TRUE(std::isnan(stabiliser.forward(NAN)));
    EXPECT_TRUE(std::isnan(stabiliser.inverse(NAN)));
    for (float v = -20; v < 300; v += 0.5f) {
      EXPECT_LE(stabiliser.forward(v), stabiliser.forward(v + 0.5f));
      EXPECT_LE(stabiliser.inverse(v), stabiliser.inverse(v + 0.5f) + 1e-3f) << v;
    }
  }
}

TEST(PhotonNoise, RejectsInvalidParameters) {
  for (const PhotonNoise& noise :
       {PhotonNoise{0, 0, 0}, PhotonNoise{-1, 0, 0}, PhotonNoise{1, NAN, 0}, PhotonNoise{1, 0, -1}})
    EXPECT_THROW(validate(noise), InvalidArgument);
}

}  // namespace
}  // namespace lull
