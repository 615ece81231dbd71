#include "core/clip_limits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "core/plane.h"

namespace lull {
namespace {

const ClipLimits at_both{{16, 1, 10}, {235, -1, 10}};

/// Returns a flat plane with the noise that a filter leaves: independent between blocks of 4x4
/// samples.
Plane<float> flat_with_residual_noise(float level, float deviation, int width, int height,
                                      unsigned seed = 1) {
  std::mt19937 rng{seed};
  std::normal_distribution<float> normal{level, deviation};
  Plane<float> plane(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      plane.view()(x, y) =
          x % 4 ? plane.view()(x - 1, y) : (y % 4 ? plane.view()(x, y - 1) : normal(rng));
  return plane;
}

double mean_of(const Plane<float>& plane) {
  double sum = 0;
  for (int y = 0; y < plane.height(); ++y)
    for (int x = 0; x < plane.width(); ++x) sum += static_cast<double>(plane.view()(x, y));
  return sum / plane.width() / plane.height();
}

template <class Check>
void for_each(const Plane<float>& plane, const Check& check) {
  for (int y = 0; y < plane.height(); ++y)
    for (int x = 0; x < plane.width(); ++x) check(plane.view()(x, y), x, y);
}

// If each sample were limited separately, black areas would have a mean of 16.8.
TEST(ClipLimits, KeepTheMean) {
  for (const float above : {0.0f, 0.5f, 1.0f, 3.0f})
    for (const bool high : {false, true}) {
      const float level = high ? 235 - above : 16 + above;
      Plane<float> plane = flat_with_residual_noise(level, 2, 200, 150);
      const double before = mean_of(plane);
      clip_preserving_mean(at_both, plane.view());
      for_each(plane, [](float v, int, int) { EXPECT_TRUE(v >= 16 && v <= 235) << v; });
      EXPECT_NEAR(mean_of(plane), before, above == 0 ? 0.25 : 0.12) << level;
    }
}

// Half of the picture is black. The limits of the black half must not make the other half darker.
TEST(ClipLimits, DoNotDarkenOtherContent) {
  Plane<float> plane = flat_with_residual_noise(16, 2, 128, 96);
  for (int y = 0; y < 96; ++y)
    for (int x = 64; x < 128; ++x) plane.view()(x, y) += 12;
  const Plane<float> before = flat_with_residual_noise(16, 2, 128, 96);
  clip_preserving_mean(at_both, plane.view());
  for_each(plane, [&](float v, int x, int y) {
    if (x >= 64 && before.view()(x, y) + 12 >= 26) {
      EXPECT_EQ(v, before.view()(x, y) + 12);
    }
  });
}

TEST(ClipLimits, DoNotChangeSamplesWithinTheLimits) {
  Plane<float> plane = flat_with_residual_noise(20, 1, 70, 90);
  for_each(plane,
           [&](float, int x, int y) { plane.view()(x, y) = std::max(plane.view()(x, y), 16.0f); });
  Plane<float> before(70, 90);
  for_each(plane, [&](float v, int x, int y) { before.view()(x, y) = v; });
  clip_preserving_mean(at_both, plane.view());
  for_each(plane, [&](float v, int x, int y) { EXPECT_EQ(v, before.view()(x, y)); });
}

TEST(ClipLimits, AcceptAnySizeAndAnySample) {
  for (const auto& [width, height] : {std::pair{1, 1}, {33, 1}, {1, 65}, {31, 33}, {64, 64}}) {
    // All samples are below the limit.
    Plane<float> plane = flat_with_residual_noise(-50, 3, width, height);
    clip_preserving_mean(at_both, plane.view());
    for_each(plane, [](float v, int, int) { EXPECT_EQ(v, 16); });
    plane = flat_with_residual_noise(16, 3, width, height);
    plane.view()(0, 0) = std::numeric_limits<float>::quiet_NaN();
    clip_preserving_mean(at_both, plane.view());
    for_each(plane, [](float v, int x, int y) {
      EXPECT_TRUE(x == 0 && y == 0 ? std::isnan(v) : v >= 16) << v;
    });
  }
}

TEST(ClipLimits, DoNothingWhenDisabled) {
  Plane<float> plane = flat_with_residual_noise(-3, 5, 40, 40);
  clip_preserving_mean({}, plane.view());
  EXPECT_NEAR(mean_of(plane), mean_of(flat_with_residual_noise(-3, 5, 40, 40)), 0);
}

}  // namespace
}  // namespace lull
