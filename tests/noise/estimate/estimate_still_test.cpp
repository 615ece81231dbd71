#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "core/error.h"
#include "core/frame_pool.h"
#include "core/samples.h"
#include "noise/coefficient_table.h"
#include "noise/estimate/estimate.h"
#include "support/coloured_noise.h"
#include "support/pictures.h"

namespace lull {
namespace {

using test_support::averaged_noise;
using test_support::blurred_noise;
using test_support::texture_picture;
using test_support::with_noise;

constexpr FrameFormat grey{.width = 320, .height = 240};
constexpr FrameFormat colour{.width = 320, .height = 240, .layout = Layout::rgb};

/// Returns a frame from planes on the 0..255 scale, rounded and clipped according to its format.
Frame frame_of(const FrameFormat& format, const std::vector<Plane<float>>& planes) {
  Frame frame = FramePool(format).acquire();
  for (int i = 0; i < format.planes(); ++i) store_plane(planes[i].view(), frame, i);
  return frame;
}

/// Returns the texture with white noise of these levels.
Frame noisy_frame(const FrameFormat& format, std::array<double, 3> sigma, unsigned seed = 1) {
  std::vector<Plane<float>> planes;
  for (int i = 0; i < format.planes(); ++i) {
    const auto clean = texture_picture(format.plane_width(i), format.plane_height(i), 0.3 * i);
    planes.push_back(with_noise(clean.view(), sigma[i], seed + 10 * i));
  }
  return frame_of(format, planes);
}

NoiseEstimate estimate(const Frame& frame) {
  const Excerpt excerpt{frame};
  return estimate_noise(std::span(&excerpt, 1));
}

/// Returns a grey picture with the samples f(x, y).
Frame painted(const FrameFormat& format, const std::function<double(int, int)>& f) {
  std::vector<Plane<float>> planes;
  for (int i = 0; i < format.planes(); ++i) {
    Plane<float> plane(format.plane_width(i), format.plane_height(i));
    for (int y = 0; y < plane.height(); ++y)
      for (int x = 0; x < plane.width(); ++x) plane.view()(x, y) = static_cast<float>(f(x, y));
    planes.push_back(std::move(plane));
  }
  return frame_of(format, planes);
}

bool equal(const NoiseEstimate& a, const NoiseEstimate& b) {
  if (a.level != b.level || a.coarse != b.coarse || a.certain != b.certain || a.why != b.why)
    return false;
  for (int i = 0; i < 3; ++i) {
    if (a.noise.sigma(i) != b.noise.sigma(i)) return false;
    if (table_of(a.noise.plane(i)) != table_of(b.noise.plane(i))) return false;
  }
  return true;
}

TEST(EstimateStill, EstimatesWhiteNoiseOfAnyLevel) {
  for (const double sigma : {5.0, 10.0, 25.0, 50.0}) {
    const NoiseEstimate found = estimate(noisy_frame(grey, {sigma}));
    EXPECT_NEAR(found.level[0], sigma, 0.06 * sigma);
    EXPECT_EQ(found.noise.sigma(0), found.level[0]);
    EXPECT_TRUE(found.noise.is_white());
    EXPECT_TRUE(found.certain) << found.why;
    EXPECT_NEAR(found.coarse, sigma / 8, 0.01 * sigma);
  }
}

TEST(EstimateStill, EstimatesWhiteNoiseOfColours) {
  const NoiseEstimate alike = estimate(noisy_frame(colour, {10, 10, 10}));
  EXPECT_NEAR(alike.noise.sigma(0), 10, 0.5);
  EXPECT_EQ(alike.noise.sigma(0), alike.noise.sigma(1));
  EXPECT_EQ(alike.noise.sigma(0), alike.noise.sigma(2));
  EXPECT_TRUE(alike.noise.is_white());
  EXPECT_FALSE(alike.noise.is_of_opponents());
  const NoiseEstimate unlike = estimate(noisy_frame(colour, {20, 6, 12}));
  EXPECT_NEAR(unlike.noise.sigma(0), 20, 1);
  EXPECT_NEAR(unlike.noise.sigma(1), 6, 0.5);
  EXPECT_NEAR(unlike.noise.sigma(2), 12, 0.7);
}

// Noise that is equal in R, G and B lies completely in Y.
TEST(EstimateStill, EstimatesNoiseSharedByColours) {
  const auto noisy = with_noise(texture_picture(320, 240).view(), 12);
  Frame frame = FramePool(colour).acquire();
  for (int i = 0; i < 3; ++i) store_plane(noisy.view(), frame, i);
  const NoiseEstimate found = estimate(frame);
  EXPECT_NEAR(found.level[1], 12, 0.7);
  const NoiseModel opponents = found.noise.in_opponent_space();
  EXPECT_NEAR(opponents.sigma(0), 12, 0.7);
  EXPECT_LT(opponents.sigma(1), 0.5);
  EXPECT_LT(opponents.sigma(2), 0.5);
}

// Scientific cameras store 10 to 14 bits in 16-bit samples.
TEST(EstimateStill, EstimatesNoiseOf12BitSamplesIn16Bits) {
  for (FrameFormat format : {grey, colour}) {
    format.sample = SampleType::u16;
    format.bits = 12;
    Frame frame = noisy_frame(format, {10, 10, 10});
    const NoiseEstimate of_12_bits = estimate(frame);
    frame.format.bits = 16;
    const NoiseEstimate of_16_bits = estimate(frame);
    const float factor = 4095.0f / 65535;
    EXPECT_NEAR(of_16_bits.level[0], 10 * factor, 0.7 * factor);
    EXPECT_FLOAT_EQ(of_16_bits.level[0], of_12_bits.level[0] * factor);
    EXPECT_FLOAT_EQ(of_16_bits.noise.sigma(0), of_12_bits.noise.sigma(0) * factor);
  }
}

TEST(EstimateStill, AcceptsEverySampleType) {
  for (const int shift : {0, 1}) {
    FrameFormat format{.width = 320, .height = 240, .layout = Layout::yuv};
    format.chroma_shift_x = 1;
    format.chroma_shift_y = shift;
    const NoiseEstimate found = estimate(noisy_frame(format, {12, 6, 8}));
    EXPECT_NEAR(found.level[0], 12, 0.7);
    EXPECT_NEAR(found.level[1], 6, 0.6);
    EXPECT_NEAR(found.level[2], 8, 0.7);
  }
  FrameFormat deep = grey;
  deep.sample = SampleType::u16;
  for (const int bits : {10, 16}) {
    deep.bits = bits;
    EXPECT_NEAR(estimate(noisy_frame(deep, {10})).level[0], 10, 0.5);
  }
  FrameFormat floats = grey;
  floats.sample = SampleType::f32;
  floats.bits = 32;
  floats.white = 100;
  EXPECT_NEAR(estimate(noisy_frame(floats, {10})).level[0], 10, 0.5);
}

TEST(EstimateStill, IgnoresNanSamples) {
  FrameFormat format = grey;
  format.sample = SampleType::f32;
  format.bits = 32;
  const Frame frame = noisy_frame(format, {10});
  const auto plane = frame.plane<float>(0);
  constexpr float none = std::numeric_limits<float>::quiet_NaN();
  constexpr float endless = std::numeric_limits<float>::infinity();
  for (int i = 0; i < 60; ++i) {
    plane(5 * i, 3 * i) = i % 3 == 0 ? none : i % 3 == 1 ? endless : -1e30f;
  }
  EXPECT_NEAR(estimate(frame).level[0], 10, 0.6);
  for (int y = 0; y < plane.height; ++y) std::fill_n(plane.row(y), plane.width, none);
  const NoiseEstimate nothing = estimate(frame);
  EXPECT_EQ(nothing.noise.sigma(0), 0);
  EXPECT_FALSE(nothing.certain);
}

TEST(EstimateStill, ReportsLittleNoiseInCleanPictures) {
  const NoiseEstimate texture = estimate(noisy_frame(grey, {0}));
  EXPECT_LT(texture.noise.sigma(0), 1);
  const NoiseEstimate ramp =
      estimate(painted(colour, [](int x, int y) { return 20 + 0.4 * x + 0.3 * y; }));
  for (int i = 0; i < 3; ++i) EXPECT_LT(ramp.noise.sigma(i), 1) << "a gradient in steps";
  const NoiseEstimate waves = estimate(painted(
      grey, [](int x, int y) { return 128 + 60 * std::sin(0.002 * x * y) * std::cos(0.11 * x); }));
  EXPECT_LE(waves.noise.sigma(0), 2);
}

TEST(EstimateStill, ReportsNoNoiseInDrawings) {
  for (const FrameFormat& format : {grey, colour}) {
    const NoiseEstimate found = estimate(painted(format, [](int x, int y) {
      return (x / 60 + y / 50) % 2 == 0 ? 30.0 : (x % 60 < 4 || y % 50 < 3) ? 220.0 : 140.0;
    }));
    EXPECT_EQ(found.noise.sigmas(), (std::array<float, 3>{}));
    EXPECT_TRUE(found.certain);
  }
  EXPECT_EQ(estimate(painted(grey, [](int, int) { return 0.0; })).noise.sigma(0), 0) << "black";
  EXPECT_EQ(estimate(painted(grey, [](int, int) { return 77.0; })).noise.sigma(0), 0);
}

// The frame has bars at the top and at the bottom whose values vary only by a codec's rounding.
TEST(EstimateStill, IgnoresLetterboxes) {
  const auto noisy = with_noise(texture_picture(320, 240).view(), 15);
  const NoiseEstimate found = estimate(painted(grey, [&](int x, int y) {
    return y < 70 || y >= 170 || x < 40 ? 16.0 + (x * 7 + y * 3) % 3
                                        : static_cast<double>(noisy.view()(x, y));
  }));
  EXPECT_NEAR(found.level[0], 15, 1);
}

// Half of the picture is so dark that half of its noise is clipped.
TEST(EstimateStill, IsNotMisledByClippedSamples) {
  std::mt19937 rng{4};
  std::normal_distribution<double> normal;
  for (const double low : {0.0, 16.0}) {
    const NoiseEstimate found = estimate(painted(grey, [&](int x, int) {
      return std::clamp((x < 160 ? low : 120.0) + 20 * normal(rng), low, 235.0);
    }));
    EXPECT_NEAR(found.level[0], 20, 1.2) << low;
  }
}

// A dark picture with a black quarter. Nearly all blocks contain clipped samples. The test also
// inverts the picture, so that white clips.
TEST(EstimateStill, EstimatesHalfClippedNoise) {
  const FrameFormat format{.width = 480, .height = 360};
  const auto clean = texture_picture(format.width, format.height);
  for (const double sigma : {20.0, 40.0})
    for (const bool inverted : {false, true}) {
      std::mt19937 rng{7};
      std::normal_distribution<double> normal;
      const NoiseEstimate found = estimate(painted(format, [&](int x, int y) {
        const double v = x < 120 ? 0 : static_cast<double>(clean.view()(x, y)) / 10;
        const double noisy = std::max(v + sigma * normal(rng), 0.0);
        return inverted ? 255 - noisy : noisy;
      }));
      EXPECT_NEAR(found.level[0], sigma, 0.015 * sigma) << sigma << inverted;
    }
}

TEST(EstimateStill, ReportsUncertaintyForTooSmallPictures) {
  for (const auto& [width, height] : {std::pair{1, 1}, {7, 9}, {8, 8}, {400, 3}, {12, 12}}) {
    const FrameFormat format{.width = width, .height = height, .layout = Layout::rgb};
    const NoiseEstimate found = estimate(noisy_frame(format, {30, 30, 30}));
    EXPECT_FALSE(found.certain);
    EXPECT_FALSE(found.why.empty());
    for (int i = 0; i < 3; ++i) EXPECT_LE(found.noise.sigma(i), 2);
  }
  const FrameFormat small{.width = 40, .height = 40};
  EXPECT_NEAR(estimate(noisy_frame(small, {20})).level[0], 20, 4);
}

/// Returns the noise level at the lowest and at the finest frequencies, relative to the mean of the
/// coefficients.
std::pair<float, float> relative_levels(const PlaneNoise& noise) {
  const CoefficientTable table = table_of(noise);
  const float variance = noise.sigma * noise.sigma;
  return {(table[1] + table[8]) / 2 / variance, (table[63] + table[62] + table[55]) / 3 / variance};
}

TEST(EstimateStill, EstimatesTheSpectrumOfCoarseNoise) {
  const auto clean = texture_picture(320, 240);
  for (const int kind : {0, 1}) {
    const test_support::ColouredNoise noise =
        kind == 0 ? blurred_noise(320, 240, 14, true, true) : averaged_noise(320, 240, 14, 3);
    const auto noisy = test_support::sum_of(clean.view(), noise.samples.view());
    std::vector<Plane<float>> planes;
    planes.push_back(with_noise(noisy.view(), 0));
    const NoiseEstimate found = estimate(frame_of(grey, planes));
    EXPECT_TRUE(found.certain);
    ASSERT_FALSE(found.noise.is_white());
    EXPECT_NEAR(found.level[0], 14, 6);
    const auto [low, fine] = relative_levels(found.noise.plane(0));
    EXPECT_GT(low, 1.3f);
    EXPECT_LT(fine, 0.7f);
  }
}

// The texture is uniformly coarse and strong like noise, but has bumps, as in plaster.
TEST(EstimateStill, TreatsPlasterAsTexture) {
  test_support::ColouredNoise bumps = blurred_noise(grey.width, grey.height, 1, true, true);
  for (int y = 0; y < grey.height; ++y)
    for (int x = 0; x < grey.width; ++x) {
      float& bump = bumps.samples.view()(x, y);
      bump = 128 + 9 * bump * bump * bump;
    }
  std::vector<Plane<float>> planes;
  planes.push_back(std::move(bumps.samples));
  const NoiseEstimate found = estimate(frame_of(grey, planes));
  EXPECT_FALSE(found.certain) << found.level[0] << " levels";
  EXPECT_LE(found.noise.sigma(0), 2.0f);
}

TEST(EstimateStill, EstimatesStrongCoarseNoise) {
  const auto clean = texture_picture(grey.width, grey.height);
  const auto noise = blurred_noise(grey.width, grey.height, 20, true, true);
  const auto noisy = test_support::sum_of(clean.view(), noise.samples.view());
  std::vector<Plane<float>> planes;
  planes.push_back(with_noise(noisy.view(), 0));
  const NoiseEstimate found = estimate(frame_of(grey, planes));
  EXPECT_TRUE(found.certain) << found.why;
  EXPECT_NEAR(found.level[0], 20, 3);
}

// If noise is weak, the rounding of samples adds as much at fine frequencies as the noise itself
// has there.
TEST(EstimateStill, EstimatesWeakCoarseNoiseInRoundedSamples) {
  for (const double level : {1.2, 1.5, 1.8}) {
    const auto clean = texture_picture(grey.width, grey.height);
    const auto noise = averaged_noise(grey.width, grey.height, static_cast<float>(level), 4);
    const auto noisy = test_support::sum_of(clean.view(), noise.samples.view());
    std::vector<Plane<float>> planes;
    planes.push_back(with_noise(noisy.view(), 0));
    const NoiseEstimate found = estimate(frame_of(grey, planes));
    EXPECT_FALSE(found.noise.is_white()) << level;
    EXPECT_NEAR(static_cast<double>(found.level[0]), level, 0.4);
  }
}

/// Returns the texture with coarse noise. The noise of the channels is independent, or chroma has
/// only the coarse noise that cameras leave.
Frame coarse_colour_frame(bool fine_chroma) {
  Frame frame = FramePool(colour).acquire();
  const auto shared = blurred_noise(320, 240, 12, true, true, 4);
  for (int i = 0; i < 3; ++i) {
    const auto own = fine_chroma ? blurred_noise(320, 240, 12, true, true, 5 + i)
                                 : averaged_noise(320, 240, 4, 7, 5 + i);
    const auto clean = texture_picture(320, 240, 0.1 * i);
    Plane<float> noisy = test_support::sum_of(clean.view(), own.samples.view());
    if (!fine_chroma) noisy = test_support::sum_of(noisy.view(), shared.samples.view());
    store_plane(noisy.view(), frame, i);
  }
  return frame;
}

TEST(EstimateStill, UsesTheSpectrumOfLumaForChromaOfCameras) {
  const NoiseEstimate found = estimate(coarse_colour_frame(false));
  ASSERT_TRUE(found.noise.is_of_opponents());
  const NoiseModel opponents = found.noise.in_opponent_space();
  EXPECT_NEAR(opponents.sigma(1) / opponents.sigma(0), std::sqrt(3.0f), 0.5);
  EXPECT_EQ(opponents.sigma(1), opponents.sigma(2));
  EXPECT_NO_THROW(validate(found.noise));
}

// A highlight in the corner of a render or of a developed photograph is outside the filter range.
TEST(EstimateStill, HighlightInTheCornerDoesNotHideChroma) {
  FrameFormat format = colour;
  format.sample = SampleType::f32;
  format.bits = 32;
  const Frame bytes = coarse_colour_frame(false);
  Frame frame = FramePool(format).acquire();
  for (int i = 0; i < 3; ++i) {
    Plane<float> plane(format.width, format.height);
    load_plane(bytes, i, plane.view());
    plane.view()(0, 0) = 2000;
    store_plane(plane.view(), frame, i);
  }
  const NoiseEstimate found = estimate(frame);
  ASSERT_TRUE(found.noise.is_of_opponents());
  const NoiseModel opponents = found.noise.in_opponent_space();
  EXPECT_NEAR(opponents.sigma(1) / opponents.sigma(0), std::sqrt(3.0f), 0.5);
  EXPECT_EQ(opponents.sigma(1), opponents.sigma(2));
}

TEST(EstimateStill, MeasuresChromaThatHasFineNoise) {
  const NoiseEstimate found = estimate(coarse_colour_frame(true));
  ASSERT_TRUE(found.noise.is_of_opponents());
  const NoiseModel opponents = found.noise.in_opponent_space();
  // The model describes stabilised samples, whose noise level depends on the noise curves.
  EXPECT_NEAR(opponents.sigma(1) / opponents.sigma(0), std::sqrt(3.0f), 0.3);
  EXPECT_NEAR(opponents.sigma(2) / opponents.sigma(1), 1, 0.1);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(found.level[i], 12, 2);
}

// The texture is white like the noise, and every block has some of it.
TEST(EstimateStill, DoesNotAddFineTextureToWhiteNoise) {
  constexpr FrameFormat large{.width = 400, .height = 400};
  std::mt19937 rng{8};
  std::normal_distribution<double> normal;
  const NoiseEstimate found = estimate(painted(large, [&](int x, int y) {
    const double texture = 1.5 + 0.009 * (x + y) * (1.2 + std::sin(0.05 * x) * std::cos(0.04 * y));
    return 120 + texture * normal(rng) + 5 * normal(rng);
  }));
  EXPECT_TRUE(found.noise.is_white());
  EXPECT_LT(found.level[0], 1.15 * 5);
  EXPECT_GT(found.level[0], 0.85 * 5);
}

TEST(EstimateStill, CombinesAllExcerpts) {
  std::vector<Excerpt> excerpts;
  for (unsigned n = 0; n < 3; ++n) excerpts.push_back({noisy_frame(grey, {10}, n)});
  EXPECT_NEAR(estimate_noise(excerpts).level[0], 10, 0.4);
  excerpts.clear();
  EXPECT_THROW((void)estimate_noise(excerpts), InvalidArgument);
  excerpts.push_back({noisy_frame(grey, {10})});
  excerpts.push_back({noisy_frame(colour, {10, 10, 10})});
  EXPECT_THROW((void)estimate_noise(excerpts), InvalidArgument);
}

TEST(EstimateStill, IsEqualForEqualPictures) {
  for (const FrameFormat& format : {grey, colour}) {
    const Frame frame = noisy_frame(format, {7, 9, 11});
    EXPECT_TRUE(equal(estimate(frame), estimate(frame)));
  }
}

}  // namespace
}  // namespace lull
