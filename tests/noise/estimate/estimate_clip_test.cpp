#include "noise/estimate/estimate_clip.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "noise/estimate/clips.h"
#include "support/pictures.h"

namespace lull {
namespace {

using test_support::make_frame;
using test_support::sum_of;
using test_support::texture_picture;
using test_support::with_noise;

using namespace clips;

TEST(NoiseOfClips, WhiteNoiseIsEstimatedUnderSubsampleMotion) {
  for (const float sigma : {3.0f, 10.0f, 40.0f})
    EXPECT_NEAR(sigma_of(clip(grey(), white(sigma))), sigma, 0.06f * sigma) << sigma;
}

TEST(NoiseOfClips, SpectrumOfCorrelatedNoiseIsEstimated) {
  const auto measured = measure_clip(clip(grey(), blurred(8), texture, 4));
  ASSERT_TRUE(measured.found);
  EXPECT_FALSE(counts_as_white(measured.tables[0]));
  const PlaneNoise noise = estimate_of(measured, Layout::gray).noise.plane(0);
  ASSERT_FALSE(noise.is_white());
  EXPECT_NEAR(noise.sigma, 8, 0.6);
  EXPECT_NEAR(noise.correlation_at(1, 0), 4 / 6.0, 0.06);
  EXPECT_NEAR(noise.correlation_at(1, 1), 16 / 36.0, 0.06);
  EXPECT_NEAR(noise.correlation_at(4, 0), 0, 0.08);
}

TEST(NoiseOfClips, CleanClipsHaveNoNoise) {
  const auto measured = measure_clip(clip(grey(), white(0)));
  EXPECT_LT(measured.level[0], 0.5f);
  EXPECT_EQ(estimate_of(measured, Layout::gray).noise.sigma(0), 0);
}

TEST(NoiseOfClips, NoiseOfStillScenesIsEstimated) {
  const Scene still = [](int w, int h, int i, double) { return moving(w, h, 3, i); };
  EXPECT_NEAR(sigma_of(clip(grey(), white(6), still)), 6, 0.3);
}

TEST(NoiseOfClips, RepeatedPictureGivesNoEstimate) {
  auto excerpts = clip(grey(), white(6));
  for (Excerpt& excerpt : excerpts) excerpt = Excerpt(3, excerpt[0]);
  EXPECT_FALSE(measure_clip(excerpts).found);
}

TEST(NoiseOfClips, RepeatedFramesDoNotCount) {
  auto excerpts = clip(grey(), white(6));
  for (Excerpt& excerpt : excerpts) excerpt[1] = excerpt[0];
  EXPECT_NEAR(sigma_of(excerpts), 6, 0.36);
  // The frame is encoded anew: each sample may differ by one.
  for (Excerpt& excerpt : excerpts) {
    Frame again = make_frame(excerpt[0].format);
    store_plane(with_noise(test_support::plane_of(excerpt[0], 0).view(), 0.5, 77).view(), again, 0);
    excerpt[1] = again;
  }
  EXPECT_NEAR(sigma_of(excerpts), 6, 0.36);
}

TEST(NoiseOfClips, BarsAndLogosDoNotCount) {
  auto excerpts = clip(grey(), white(6));
  change_samples(excerpts, [](int x, int y, int v) {
    if (y < 30 || y >= height - 30) return 16;
    return x > 160 && y > 40 && y < 90 ? 180 + (x * 7 + y * 3) % 40 : v;
  });
  EXPECT_NEAR(sigma_of(excerpts), 6, 0.36);
}

TEST(NoiseOfClips, FadesAndFlashesDoNotBiasTheEstimate) {
  const Scene fade = [](int w, int h, int i, double time) {
    Plane<float> plane = moving(w, h, time, i);
    const float gain = 1 - 0.08f * std::fmod(static_cast<float>(time), 10.0f);
    const float flash = static_cast<int>(time) % 10 == 1 ? 30 : 0;
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) plane.view()(x, y) = plane.view()(x, y) * gain + flash;
    return plane;
  };
  EXPECT_NEAR(sigma_of(clip(grey(), white(5), fade)), 5, 0.35);
  EXPECT_LT(measure_clip(clip(grey(), white(0), fade)).level[0], 0.6f);
}

TEST(NoiseOfClips, CutsWithinExcerptsAreExcluded) {
  const auto other = clip(
      grey(), white(5), [](int w, int h, int, double) { return texture_picture(w, h); }, 2);
  auto excerpts = clip(grey(), white(5));
  for (std::size_t l = 0; l < excerpts.size(); ++l) excerpts[l][2] = other[l][2];
  EXPECT_NEAR(sigma_of(excerpts), 5, 0.3);
  for (std::size_t l = 0; l < excerpts.size(); ++l) excerpts[l] = {excerpts[l][0], other[l][0]};
  EXPECT_FALSE(measure_clip(excerpts).found);
}

TEST(NoiseOfClips, PlanesAreEstimatedSeparately) {
  const Noise own = [](PlaneView<const float> clean, int i, unsigned seed) {
    return i == 1 ? blurred(6)(clean, i, seed) : with_noise(clean, i == 0 ? 4 : 10, seed);
  };
  const auto measured = measure_clip(clip(colour(Layout::yuv), own, texture, 4));
  const NoiseModel noise = estimate_of(measured, Layout::yuv).noise;
  EXPECT_NEAR(noise.sigma(0), 4, 0.24);
  EXPECT_NEAR(noise.sigma(1), 6, 0.6);
  EXPECT_NEAR(noise.sigma(2), 10, 0.6);
  EXPECT_TRUE(noise.plane(0).is_white());
  EXPECT_FALSE(noise.plane(1).is_white());
  EXPECT_TRUE(noise.plane(2).is_white());
}

TEST(NoiseOfClips, RgbIsMeasuredInTheOpponentSpace) {
  const auto measured =
      measure_clip(clip(colour(Layout::rgb), white(9),
                        [](int w, int h, int, double time) { return moving(w, h, time); }));
  EXPECT_NEAR(measured.level[0], 9 / std::sqrt(3.0), 0.35);
  EXPECT_NEAR(measured.level[1], 9, 0.5);
  const NoiseEstimate estimate = estimate_of(measured, Layout::rgb);
  EXPECT_TRUE(estimate.noise.is_of_opponents());
  for (const float level : estimate.level) EXPECT_NEAR(level, 9, 0.5);
}

TEST(NoiseOfClips, SampleTypesGiveEqualEstimates) {
  const float eight = sigma_of(clip(grey(), white(5)));
  for (const int bits : {10, 16, 32}) {
    FrameFormat format = grey();
    format.sample = bits == 32 ? SampleType::f32 : SampleType::u16;
    format.bits = bits;
    EXPECT_NEAR(sigma_of(clip(format, white(5))), eight, 0.1) << bits;
  }
}

TEST(NoiseOfClips, NanSamplesAreExcluded) {
  FrameFormat format = grey();
  format.sample = SampleType::f32;
  format.bits = 32;
  auto excerpts = clip(format, white(5));
  for (Excerpt& excerpt : excerpts)
    for (Frame& frame : excerpt)
      for (int y = 0; y < height; y += 40)
        frame.plane<float>(0)(y, y) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_NEAR(sigma_of(excerpts), 5, 0.3);
}

TEST(NoiseOfClips, WovenFieldsAreSeparated) {
  const Scene weave = [](int w, int h, int i, double time) {
    Plane<float> even = moving(w, h, 4 * time, i), odd = moving(w, h, 4 * time + 2, i);
    for (int y = 0; y < h; y += 2) std::copy_n(even.view().row(y), w, odd.view().row(y));
    return odd;
  };
  const auto excerpts = clip(grey(), white(5), weave);
  EXPECT_TRUE(measure_clip(excerpts).from_fields);
  EXPECT_NEAR(sigma_of(excerpts), 5, 0.4);
  EXPECT_FALSE(measure_clip(clip(grey(), white(5))).from_fields);
  EXPECT_FALSE(measure_clip(clip(grey(), white(40))).from_fields);
}

TEST(NoiseOfClips, BlocksCopiedByACodecDoNotCount) {
  auto excerpts =
      clip(grey(), white(6), [](int w, int h, int i, double) { return moving(w, h, 3, i); });
  for (Excerpt& excerpt : excerpts)
    for (std::size_t f = 1; f < excerpt.size(); ++f) {
      const auto from = excerpt[f - 1].plane<std::uint8_t>(0),
                 to = excerpt[f].plane<std::uint8_t>(0);
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
          if ((x / 32 + y / 32 + f) % 5 < 2) to(x, y) = from(x, y);
    }
  EXPECT_NEAR(sigma_of(excerpts), 6, 0.5);
}

TEST(NoiseOfClips, MovingObjectInACleanStillSceneGivesNoNoise) {
  const Scene passing = [](int w, int h, int i, double time) {
    Plane<float> still = moving(w, h, 3, i), thing = moving(w, h, -7 * time, i + 1);
    const int left = static_cast<int>(7 * time) % 100;
    for (int y = 40; y < 130; ++y)
      std::copy_n(thing.view().row(y) + left, 90, still.view().row(y) + left);
    return still;
  };
  const auto measured = measure_clip(clip(grey(), white(0), passing, 4));
  ASSERT_TRUE(measured.found);
  EXPECT_LT(measured.level[0], 0.6f);
}

TEST(NoiseOfClips, TooSmallFramesGiveNoEstimate) {
  for (const int side : {1, 7, 27, 30})
    EXPECT_FALSE(measure_clip(clip(grey(side, side), white(5))).found) << side;
  EXPECT_TRUE(measure_clip(clip(grey(72, 64), white(5), texture, 4)).found);
}

TEST(NoiseOfClips, SingleFramesGiveNoEstimate) {
  auto excerpts = clip(grey(), white(5));
  for (Excerpt& excerpt : excerpts) excerpt.resize(1);
  EXPECT_FALSE(measure_clip(excerpts).found);
}

TEST(NoiseOfClips, EachExcerptHasItsOwnLevel) {
  std::vector<Excerpt> excerpts;
  for (const double sigma : {5, 10, 20})
    excerpts.push_back(clip(grey(), white(sigma), texture, 1)[0]);
  const ClipMeasurement measured = measure_clip(excerpts);
  ASSERT_EQ(measured.excerpt_level.size(), 3u);
  for (const int l : {0, 1, 2}) EXPECT_NEAR(measured.excerpt_level[l], 5 << l, 0.1 * (5 << l)) << l;
  EXPECT_NEAR(measured.level[0], 10, 0.8);
}

TEST(NoiseOfClips, BrightnessDependentNoiseGetsACurve) {
  const Noise shot = [](PlaneView<const float> clean, int, unsigned seed) {
    Plane<float> noise = with_noise(clean, 1, seed);
    for (int y = 0; y < clean.height; ++y)
      for (int x = 0; x < clean.width; ++x)
        noise.view()(x, y) = clean(x, y) + (noise.view()(x, y) - clean(x, y)) * 0.05f * clean(x, y);
    return noise;
  };
  const auto measured = measure_clip(clip(grey(), shot, texture, 6));
  ASSERT_NE(measured.curve, nullptr);
  for (const float at : {80.0f, 110.0f, 140.0f})
    EXPECT_NEAR(measured.curve->at(at), 0.05f * at, 0.15f * 0.05f * at) << at;
  EXPECT_EQ(measure_clip(clip(grey(), white(6), texture, 6)).curve, nullptr);
}

// The noise is coarse in all planes. Most of its energy lies below the frequencies of 8x8 samples.
TEST(NoiseOfClips, LevelsByLumaAreMeasuredForEachPlane) {
  const auto excerpts = clip(
      colour(Layout::yuv),
      [](PlaneView<const float> clean, int i, unsigned seed) {
        const auto noise =
            test_support::blurred_noise(clean.width, clean.height, 1, true, true, seed);
        Plane<float> noisy(clean.width, clean.height);
        for (int y = 0; y < clean.height; ++y)
          for (int x = 0; x < clean.width; ++x) {
            const bool right = x >= clean.width / 2;
            noisy.view()(x, y) = clean(x, y) + (i == 0  ? right ? 9.0f : 3.0f
                                                : right ? 4.0f
                                                        : 8.0f) *
                                                   noise.samples.view()(x, y);
          }
        return noisy;
      },
      // The picture is dark on the left and bright on the right.
      [](int w, int h, int i, double time) {
        Plane<float> picture = texture(w, h, i, time);
        for (int y = 0; y < h; ++y)
          for (int x = 0; x < w; ++x)
            picture.view()(x, y) =
                i == 0 ? 0.3f * picture.view()(x, y) + (x < w / 2 ? 30 : 150) : 128.0f;
        return picture;
      },
      4);
  const ClipMeasurement measured = measure_clip(excerpts);
  for (int i = 0; i < 3; ++i) {
    ASSERT_GE(measured.by_luma[i].size(), 2u) << i;
    float before = 0;
    for (const auto& [luma, level] : measured.by_luma[i]) {
      EXPECT_GT(luma, before);
      before = luma;
      const float expected = i == 0 ? luma < 120 ? 3.0f : 9.0f : luma < 120 ? 8.0f : 4.0f;
      EXPECT_NEAR(level, expected, (i == 0 ? 0.15f : 0.22f) * expected)
          << "plane " << i << " at " << luma;
    }
  }
}

// Two colours have the same luma. The level of the colour with less noise must not be used for both
// colours.
TEST(NoiseOfClips, ChromaLevelsCoverAllColoursOfALuma) {
  const auto excerpts = clip(
      colour(Layout::yuv),
      [](PlaneView<const float> clean, int i, unsigned seed) {
        Plane<float> noisy = white(4)(clean, i, seed);
        for (int y = clean.height / 2; i > 0 && y < clean.height; ++y)
          for (int x = 0; x < clean.width; ++x)
            noisy.view()(x, y) = clean(x, y) + 1.4f * (noisy.view()(x, y) - clean(x, y));
        return noisy;
      },
      [](int w, int h, int i, double time) {
        Plane<float> picture = texture(w, h, i, time);
        for (int y = 0; y < h; ++y)
          for (int x = 0; x < w; ++x)
            picture.view()(x, y) = i == 0 ? 0.3f * picture.view()(x, y) + 90 : 128.0f;
        return picture;
      },
      4);
  const float all = 4 * std::sqrt((1 + 1.4f * 1.4f) / 2);
  const ClipMeasurement measured = measure_clip(excerpts);
  for (const int i : {1, 2}) {
    ASSERT_FALSE(measured.by_luma[i].empty());
    for (const auto& [luma, level] : measured.by_luma[i]) EXPECT_NEAR(level, all, 0.12f * all);
  }
}

TEST(NoiseOfClips, EqualFramesGiveEqualBits) {
  const auto excerpts = clip(colour(Layout::yuv), blurred(5));
  const ClipMeasurement one = measure_clip(excerpts), two = measure_clip(excerpts);
  EXPECT_EQ(one.tables, two.tables);
  EXPECT_EQ(one.excerpt_level, two.excerpt_level);
}

}  // namespace
}  // namespace lull
