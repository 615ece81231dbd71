// Tests noise estimation for clips whose noise is clipped at the limits of the sample range.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "noise/estimate/clips.h"
#include "noise/estimate/estimate.h"

namespace lull {
namespace {

using test_support::with_noise;

using namespace clips;

TEST(NoiseOfClips, ClippedNoiseIsEstimatedBeforeClipping) {
  const Scene dark = [](int w, int h, int i, double time) {
    Plane<float> plane = moving(w, h, time, i);
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) plane.view()(x, y) = plane.view()(x, y) * 0.3f - 8;
    return plane;
  };
  EXPECT_NEAR(sigma_of(clip(grey(), white(25), dark)), 25, 3);
  // In the limited range, the samples are clipped at 16.
  const Scene limited = [](int w, int h, int i, double time) {
    Plane<float> plane = moving(w, h, time, i);
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) plane.view()(x, y) = plane.view()(x, y) * 0.3f + 8;
    return plane;
  };
  auto excerpts = clip(grey(), white(25), limited);
  change_samples(excerpts, [](int, int, int v) { return std::clamp(v, 16, 235); });
  EXPECT_NEAR(sigma_of(excerpts), 25, 3);
}

// Floats below black or above white show that no sample was clipped, as in linear pictures from
// which the background was subtracted.
TEST(NoiseOfClips, FloatsBeyondTheScaleAreNotClipped) {
  FrameFormat format = grey();
  format.sample = SampleType::f32;
  format.bits = 32;
  for (const bool bright : {false, true}) {
    const Scene scene = [=](int w, int h, int i, double time) {
      Plane<float> plane = moving(w, h, time, i);
      for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x) {
          float& v = plane.view()(x, y);
          v = v * 0.3f - 8;
          if (bright) v = 255 - v;
        }
      return plane;
    };
    EXPECT_NEAR(sigma_of(clip(format, white(25), scene)), 25, 1.5) << bright;
  }
}

/// Returns the texture with its brightness multiplied by `dark`; the left quarter is black, and
/// half of its noise is clipped.
Scene dark_texture(float dark) {
  return [=](int w, int h, int i, double time) {
    Plane<float> plane = moving(w, h, time, i);
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) plane.view()(x, y) = x < w / 4 ? 0 : plane.view()(x, y) * dark;
    return plane;
  };
}

// The mean must be right in black areas: 1 % of the noise there is half a level at a sigma of 40.
TEST(NoiseOfClips, HalfClippedNoiseOfDarkClipsIsEstimatedBeforeClipping) {
  for (const float dark : {0.08f, 0.16f}) {
    const auto excerpts = clip(grey(), white(40), dark_texture(dark), 6);
    EXPECT_NEAR(sigma_of(excerpts), 40, 0.6f) << dark;
    const NoiseEstimate estimate = estimate_noise(excerpts);
    ASSERT_TRUE(estimate.noise.plane(0).curve);
    EXPECT_EQ(estimate.noise.plane(0).curve->low, 0);
    EXPECT_NEAR(estimate.noise.plane(0).curve->at(0), 40, 0.6f);
  }
}

TEST(NoiseOfClips, NoiseClippedAtWhiteIsEstimated) {
  auto excerpts = clip(grey(), white(30), dark_texture(0.1f), 6);
  change_samples(excerpts, [](int, int, int v) { return 255 - v; });
  EXPECT_NEAR(sigma_of(excerpts), 30, 0.5f);
}

// Each channel is clipped differently, and the planes of the opponent space combine all of them.
TEST(NoiseOfClips, ClippingIsConsideredForEachChannel) {
  const Scene coloured = [](int w, int h, int i, double time) {
    return dark_texture(0.06f + 0.08f * static_cast<float>(i))(w, h, 0, time);
  };
  const auto excerpts = clip(colour(Layout::rgb), white(20), coloured, 4);
  for (const float level : estimate_of(measure_clip(excerpts), Layout::rgb).level)
    EXPECT_NEAR(level, 20, 0.4f);
  // Grey stored as RGB has the same noise in all three planes.
  auto same = excerpts;
  for (Excerpt& excerpt : same)
    for (Frame& frame : excerpt)
      for (const int i : {1, 2})
        for (int y = 0; y < height; ++y)
          std::copy_n(frame.plane<std::uint8_t>(0).row(y), width,
                      frame.plane<std::uint8_t>(i).row(y));
  for (const float level : estimate_of(measure_clip(same), Layout::rgb).level)
    EXPECT_NEAR(level, 20, 0.6f);
}

// The frame's black bars have no noise, and they cover half of the blocks at their borders.
TEST(NoiseOfClips, BarsDoNotCountAsClippedNoise) {
  auto excerpts = clip(grey(), white(20), dark_texture(0.2f), 4);
  change_samples(excerpts, [](int x, int y, int v) {
    return y < 30 || y >= height - 30 ? (x * 7 + y) % 31 == 0 : v;  // nearly constant
  });
  EXPECT_NEAR(sigma_of(excerpts), 20, 0.6f);
}

/// A scene whose left three fifths are nearly black.
Plane<float> half_lit(int w, int h, int i, double time) {
  Plane<float> plane = texture(w, h, i, time);
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < 3 * w / 5; ++x) plane.view()(x, y) = i == 0 ? 20 : 128;
  return plane;
}
/// Returns white noise with the level `dark` in the left three fifths and `lit` elsewhere.
Noise uneven(double dark, double lit) {
  return [=](PlaneView<const float> clean, int, unsigned seed) {
    Plane<float> plane = with_noise(clean, lit, seed);
    const Plane<float> left = with_noise(clean, dark, seed);
    for (int y = 0; y < clean.height; ++y)
      std::copy_n(left.view().row(y), 3 * clean.width / 5, plane.view().row(y));
    return plane;
  };
}

// Cameras clip the noise of R, G and B at black, which leaves less noise of chroma in dark areas.
TEST(NoiseOfClips, DarkAreasDoNotLowerTheLevelOfChroma) {
  const auto measured = measure_clip(clip(colour(Layout::yuv), uneven(3, 7), half_lit));
  for (const int i : {1, 2}) EXPECT_NEAR(measured.level[i], 7, 0.5f) << i;
}

TEST(NoiseOfClips, DarkAreasWithMoreNoiseDetermineTheLevelOfChroma) {
  const auto measured = measure_clip(clip(colour(Layout::yuv), uneven(7, 3), half_lit));
  for (const int i : {1, 2}) EXPECT_GT(measured.level[i], 6) << i;
}

// Encoders remove noise from dark areas.
TEST(NoiseOfClips, DarkAreasDoNotLowerTheLevelOfLuma) {
  const auto measured = measure_clip(clip(grey(), uneven(0.4, 7), half_lit));
  EXPECT_NEAR(measured.level[0], 7, 0.5f);
  EXPECT_EQ(measured.curve, nullptr);
  EXPECT_TRUE(measured.has_dark_areas);
  EXPECT_LT(measured.share_in_all_areas, 0.5f);
}

TEST(NoiseOfClips, LevelOfLumaWithDarkAreasIsEqualIfTheNoiseIs) {
  const auto measured = measure_clip(clip(grey(), uneven(4, 4), half_lit));
  EXPECT_NEAR(measured.level[0], 4, 0.25f);
  EXPECT_TRUE(measured.has_dark_areas);
  EXPECT_EQ(measured.share_in_all_areas, 1);
  EXPECT_FALSE(measure_clip(clip(grey(), white(4))).has_dark_areas);
}

// If most of the picture is dark, a moderate difference of the noise does not count.
TEST(NoiseOfClips, SmallAreaOutsideDarkAreasNeedsMuchMoreNoise) {
  const Scene mostly_dark = [](int w, int h, int i, double time) {
    Plane<float> plane = half_lit(w, h, i, time);
    for (int y = 0; y < h / 2; ++y) std::fill_n(plane.view().row(y), w, 20.0f);
    return plane;
  };
  EXPECT_LT(measure_clip(clip(grey(), uneven(6, 7.5), mostly_dark)).level[0], 6.9f);
  EXPECT_NEAR(measure_clip(clip(grey(), uneven(3, 9), mostly_dark)).level[0], 9, 0.7f);
}

}  // namespace
}  // namespace lull
