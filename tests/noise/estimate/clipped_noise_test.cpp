// Tests the detection of clipping in samples with noise of a given level, and the change of the
// filters' noise model by the clipping.

#include "noise/estimate/clipped_noise.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "noise/estimate/clips.h"
#include "noise/estimate/estimate.h"
#include "noise/stabiliser.h"

namespace lull {
namespace {

using namespace clips;

constexpr float infinity = std::numeric_limits<float>::infinity();

NoiseModel level(float sigma) { return NoiseModel({sigma, sigma, sigma}); }

/// Returns the texture, multiplied by `gain`; its left quarter is black.
Scene dark_texture(float gain) {
  return [=](int w, int h, int i, double time) {
    Plane<float> plane = moving(w, h, time, i);
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) plane.view()(x, y) = x < w / 4 ? 0 : plane.view()(x, y) * gain;
    return plane;
  };
}

/// Returns a clip of float samples in which `white` corresponds to 255. With `clamp`, samples are
/// clipped to 0..white.
std::vector<Excerpt> float_clip(float white, bool clamp) {
  FrameFormat format = grey();
  format.sample = SampleType::f32;
  format.bits = 32;
  format.white = white;
  std::vector<Excerpt> excerpts = clip(format, clips::white(30), dark_texture(0.2f));
  for (Excerpt& excerpt : excerpts)
    for (Frame& frame : excerpt) {
      const PlaneView<float> plane = frame.plane<float>(0);
      for (int y = 0; y < plane.height && clamp; ++y)
        for (int x = 0; x < plane.width; ++x) plane(x, y) = std::clamp(plane(x, y), 0.0f, white);
    }
  return excerpts;
}

TEST(FindClipping, FindsLimitsAtEitherEnd) {
  auto excerpts = clip(grey(), white(30), dark_texture(0.2f));
  const Clipping dark = find_clipping(level(30), excerpts)[0];
  EXPECT_EQ(dark.low, 0);
  EXPECT_EQ(dark.high, infinity);
  EXPECT_EQ(dark.level, 30);
  change_samples(excerpts, [](int, int, int v) { return 255 - v; });
  const Clipping bright = find_clipping(level(30), excerpts)[0];
  EXPECT_EQ(bright.low, -infinity);
  EXPECT_EQ(bright.high, 255);
  // In the limited range, the samples are clipped at 16 and 235.
  change_samples(excerpts, [](int, int, int v) { return std::clamp(v, 16, 235); });
  EXPECT_EQ(find_clipping(level(30), excerpts)[0].high, 235);
}

TEST(FindClipping, FindsNoneIfSamplesDoNotReachTheLimits) {
  const auto excerpts = clip(grey(), white(10));
  EXPECT_FALSE(find_clipping(level(10), excerpts)[0].any());
  const NoiseModel given = level(10);
  const NoiseModel noise = with_clipping(given, find_clipping(given, excerpts));
  EXPECT_EQ(noise.sigmas(), given.sigmas());
  EXPECT_FALSE(noise.has_curves());
}

TEST(FindClipping, IgnoresFlatBlackBars) {
  auto excerpts = clip(grey(), white(10));
  change_samples(excerpts, [](int, int y, int v) { return y < 40 || y >= height - 40 ? 0 : v; });
  EXPECT_FALSE(find_clipping(level(10), excerpts)[0].any());
}

TEST(FindClipping, AgreesWithTheEstimateOfTheSameNoise) {
  for (const float gain : {0.1f, 1.0f, 2.2f})
    for (const float sigma : {5.0f, 40.0f}) {
      const auto excerpts = clip(grey(), white(sigma), dark_texture(gain));
      const PlaneNoise found = estimate_noise(excerpts).noise.plane(0);
      const NoiseModel told = with_clipping(level(sigma), find_clipping(level(sigma), excerpts));
      const PlaneNoise& given = told.plane(0);
      ASSERT_EQ(given.curve != nullptr, found.curve != nullptr) << gain << ", " << sigma;
      EXPECT_NEAR(given.sigma, found.sigma, 0.1f * sigma) << gain << ", " << sigma;
      if (!found.curve) continue;
      EXPECT_EQ(given.curve->low, found.curve->low);
      EXPECT_EQ(given.curve->high, found.curve->high);
      EXPECT_EQ(given.curve->level(), sigma);
      EXPECT_EQ(given.sigma, stabilised_sigma(*given.curve));
    }
}

TEST(FindClipping, TreatsEachChannelSeparately) {
  const Scene coloured = [](int w, int h, int i, double time) {
    return i == 2 ? dark_texture(0.1f)(w, h, 0, time) : moving(w, h, time, i);
  };
  const auto excerpts = clip(colour(Layout::rgb), white(25), coloured);
  const NoiseModel given({25, 25, 25});
  const PlaneClipping clipping = find_clipping(given, excerpts);
  EXPECT_FALSE(clipping[0].any());
  EXPECT_FALSE(clipping[1].any());
  EXPECT_EQ(clipping[2].low, 0);
  const NoiseModel noise = with_clipping(given, clipping);
  EXPECT_EQ(noise.sigma(0), 25);
  EXPECT_FALSE(noise.plane(0).curve);
  ASSERT_TRUE(noise.plane(2).curve);
  EXPECT_FALSE(find_clipping(NoiseModel({25, 25, 0}), excerpts)[2].any());
}

TEST(FindClipping, FindsItInLumaButNotInChromaOrWeakNoise) {
  const auto excerpts = clip(colour(Layout::yuv), white(25), dark_texture(0.1f));
  const PlaneClipping clipping = find_clipping(level(25), excerpts);
  EXPECT_EQ(clipping[0].low, 0);
  EXPECT_FALSE(clipping[1].any() || clipping[2].any());
  EXPECT_FALSE(find_clipping(NoiseModel({3, 25, 25}), excerpts)[0].any());
  EXPECT_TRUE(may_show_clipping(NoiseModel({4, 0, 0}), Layout::yuv));
  EXPECT_FALSE(may_show_clipping(NoiseModel({3.9f, 25, 25}), Layout::yuv));
  EXPECT_TRUE(may_show_clipping(NoiseModel({3.9f, 25, 25}), Layout::rgb));
}

TEST(FindClipping, FindsItInFloatsOnlyIfAllAreWithinTheScale) {
  for (const float white : {1.0f, 0.7f, 16.0f}) {
    auto excerpts = float_clip(white, true);
    const Clipping clipped = find_clipping(level(30), excerpts)[0];
    EXPECT_EQ(clipped.low, 0) << white;
    excerpts[0][0].plane<float>(0)(3, 3) = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(find_clipping(level(30), excerpts)[0].any()) << "NaN, " << white;
    excerpts[0][0].plane<float>(0)(3, 3) = 2 * white;
    EXPECT_FALSE(find_clipping(level(30), excerpts)[0].any()) << "highlight, " << white;
    EXPECT_FALSE(find_clipping(level(30), float_clip(white, false))[0].any()) << white;
  }
}

// A curve for more noise than the samples contain would make dark parts of the picture black.
TEST(FindClipping, UsesTheMeasuredLevelIfTheGivenOneIsTooHigh) {
  const auto excerpts = clip(grey(), white(20), dark_texture(0.16f));
  for (const float given : {50.0f, 80.0f}) {
    const PlaneClipping clipping = find_clipping(level(given), excerpts);
    EXPECT_NEAR(clipping[0].level, 20, 0.8f) << given;
    const NoiseModel noise = with_clipping(level(given), clipping);
    const PlaneNoise& plane = noise.plane(0);
    ASSERT_TRUE(plane.curve);
    // The filter still removes as much as was requested.
    EXPECT_NEAR(plane.sigma / stabilised_sigma(*plane.curve), given / 20, 0.04f * given / 20);
  }
  EXPECT_EQ(find_clipping(level(24), excerpts)[0].level, 24);
  EXPECT_EQ(find_clipping(level(10), excerpts)[0].level, 10);
  // Noise that is too weak to be clipped has no clipping.
  const auto weak = clip(grey(), white(3), dark_texture(0.1f));
  EXPECT_TRUE(estimate_noise(weak).certain);
  EXPECT_FALSE(find_clipping(level(20), weak)[0].any());
}

TEST(WithClipping, AddsLimitsToACurveAndKeepsItsSigmas) {
  auto measured = std::make_shared<NoiseCurve>();
  for (int i = 0; i < NoiseCurve::knots; ++i) measured->sigma[i] = 8 + 0.5f * static_cast<float>(i);
  NoiseModel given;
  given.plane(0) = {.sigma = 1.2f * stabilised_sigma(*measured), .curve = measured};
  const NoiseModel noise = with_clipping(given, {Clipping{.low = 0, .level = 30}});
  ASSERT_TRUE(noise.plane(0).curve);
  EXPECT_EQ(noise.plane(0).curve->sigma, measured->sigma);
  EXPECT_EQ(noise.plane(0).curve->low, 0);
  EXPECT_EQ(noise.plane(0).curve->high, infinity);
  EXPECT_NEAR(noise.sigma(0), 1.2f * stabilised_sigma(*noise.plane(0).curve), 1e-4f);
  // A curve that already has the limits remains the same object with the same sigma.
  const NoiseModel again = with_clipping(noise, {Clipping{.low = 0, .level = 30}});
  EXPECT_EQ(again.plane(0).curve, noise.plane(0).curve);
  EXPECT_EQ(again.sigma(0), noise.sigma(0));
  // A second limit is added to the first.
  const NoiseModel both = with_clipping(noise, {Clipping{.high = 255, .level = 30}});
  EXPECT_EQ(both.plane(0).curve->low, 0);
  EXPECT_EQ(both.plane(0).curve->high, 255);
}

TEST(WithClipping, ScalesOpponentPlanesOfNoiseSharedByChannels) {
  const NoiseModel given = NoiseModel::of_opponents(
      {PlaneNoise{.sigma = 12}, PlaneNoise{.sigma = 20}, PlaneNoise{.sigma = 20}});
  const Clipping black{.low = 0, .level = given.sigma(1)};
  const NoiseModel noise = with_clipping(given, {Clipping{}, black, Clipping{}});
  EXPECT_TRUE(noise.is_of_opponents());
  EXPECT_FALSE(noise.plane(0).curve);
  ASSERT_TRUE(noise.plane(1).curve);
  const float ratio = stabilised_sigma(*noise.plane(1).curve) / given.sigma(1);
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(noise.in_opponent_space().sigma(i), ratio * given.in_opponent_space().sigma(i),
                1e-3f);
}

TEST(ClippingOf, ReturnsTheLimitsSetByWithClipping) {
  const PlaneClipping clipping{Clipping{0, 255, 17.3f}, Clipping{}, Clipping{-infinity, 235, 9}};
  const PlaneClipping back = clipping_of(with_clipping(NoiseModel({17.3f, 9, 9}), clipping));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(back[i].low, clipping[i].low);
    EXPECT_EQ(back[i].high, clipping[i].high);
    EXPECT_EQ(back[i].level, clipping[i].level);
  }
}

}  // namespace
}  // namespace lull
