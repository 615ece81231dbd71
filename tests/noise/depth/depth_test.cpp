// Tests depth maps: the variable in which their noise is uniform, the samples that filters get in
// holes, and the inverse transform.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "core/error.h"
#include "noise/depth/find_depth_noise.h"
#include "noise/depth/vst_depth.h"
#include "noise/fill_holes.h"
#include "support/pictures.h"

namespace lull {
namespace {

constexpr float nothing = std::numeric_limits<float>::quiet_NaN();

FrameFormat float_format(int width, int height) {
  return {.width = width, .height = height, .sample = SampleType::f32, .bits = 32};
}

/// Returns a depth map that shows a slanted plane, with depths from 1 to 4.
Frame slanted(const FrameFormat& format) {
  const Frame frame = test_support::make_frame(format);
  for (int y = 0; y < format.height; ++y)
    for (int x = 0; x < format.width; ++x)
      frame.plane<float>(0)(x, y) =
          1 + 3 * static_cast<float>(x) / static_cast<float>(format.width);
  return frame;
}

/// A filter that records its input and returns it plus a constant.
class AddingDenoiser final : public Denoiser {
 public:
  explicit AddingDenoiser(float more, Frame& seen) : more_(more), seen_(seen) {}
  int latency() const noexcept override { return 0; }
  std::optional<Frame> push(Frame noisy) override {
    seen_ = noisy;
    const Frame result = test_support::make_frame(noisy.format);
    for (int y = 0; y < noisy.format.height; ++y)
      for (int x = 0; x < noisy.format.width; ++x)
        result.plane<float>(0)(x, y) = noisy.plane<float>(0)(x, y) + more_;
    return result;
  }
  std::optional<Frame> drain() override { return std::nullopt; }

 private:
  float more_;
  Frame& seen_;
};

TEST(FillHoles, InterpolatesTheSurroundings) {
  const int width = 40, height = 30;
  std::vector<bool> hole(static_cast<std::size_t>(width) * height);
  for (int y = 10; y < 18; ++y)
    for (int x = 12; x < 20; ++x) hole[static_cast<std::size_t>(y) * width + x] = true;
  const Holes holes(width, height, hole);
  Plane<float> filled[2];
  for (int k = 0; k < 2; ++k) {
    filled[k] = Plane<float>(width, height);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        filled[k].view()(x, y) =
            holes.at(x, y) ? (k == 0 ? 1e30f : nothing) : static_cast<float>(2 * x + y);
    fill_holes(holes, filled[k].view());
  }
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const float v = filled[0].view()(x, y);
      EXPECT_EQ(v, filled[1].view()(x, y));
      // The filled values continue a slope, within a few of its steps.
      EXPECT_NEAR(v, 2 * x + y, holes.at(x, y) ? 6 : 0) << x << ", " << y;
    }
}

TEST(FillHoles, FillsAFrameWithoutSamplesWithZero) {
  const Holes holes(5, 3, std::vector<bool>(15, true));
  Plane<float> plane(5, 3);
  plane.view()(2, 1) = nothing;
  fill_holes(holes, plane.view());
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 5; ++x) EXPECT_EQ(plane.view()(x, y), 0);
}

TEST(DepthScale, DoesNotDependOnTheUnit) {
  for (const DepthNoise noise : {DepthNoise::constant, DepthNoise::squared}) {
    const DepthSamples samples{.noise = noise};
    const FrameFormat format = float_format(64, 8);
    const Frame metres = slanted(format), millimetres = slanted(format);
    for (int y = 0; y < 8; ++y)
      for (int x = 0; x < 64; ++x) millimetres.plane<float>(0)(x, y) *= 1000;
    DepthStatistics a(samples), b(samples);
    a.add(metres), b.add(millimetres);
    const DepthScale one = a.scale(0.01, {}), thousand = b.scale(10, {});
    EXPECT_NEAR(one.level(), thousand.level(), 1e-3);
    for (const double z : {1.0, 1.7, 3.9})
      EXPECT_NEAR(one.forward(z), thousand.forward(1000 * z), 1e-2);
  }
}

TEST(DepthScale, StabilisesQuadraticNoiseWithoutBias) {
  const FrameFormat format = float_format(64, 8);
  DepthStatistics look({.noise = DepthNoise::squared});
  look.add(slanted(format));
  const double sigma = 0.02;  // at depth 1; at depth 4 it is 0.32, a twelfth of the depth
  const DepthScale scale = look.scale(sigma, 1.0);
  std::mt19937 rng{20240607};
  std::normal_distribution<double> normal;
  for (const double z : {1.0, 2.0, 3.5}) {
    double sum = 0, squares = 0;
    constexpr int samples = 200000;
    for (int i = 0; i < samples; ++i) {
      const double even = scale.forward(z + sigma * z * z * normal(rng));
      sum += even, squares += even * even;
    }
    const double mean = sum / samples;
    const double deviation = std::sqrt(squares / samples - mean * mean);
    // (The second order of 1 / z adds some percent where the noise is a fourteenth of the depth.)
    EXPECT_NEAR(deviation / scale.level(), 1, 0.05) << z;
    // The error bound is the standard error of the mean, plus the third term of the series.
    const double error = 4 * sigma * z * z / std::sqrt(samples);
    EXPECT_NEAR(scale.inverse(mean), z, error + 3 * z * std::pow(sigma * z, 4)) << z;
    // Without the second term the depth would be biased towards the camera.
    EXPECT_GT(std::abs(1 / ((mean / 255 * scale.span) + scale.low) - z), 2 * error + 1e-5);
  }
}

TEST(DepthScale, RecognisesHoles) {
  DepthSamples samples{.invalid = 0};
  EXPECT_TRUE(samples.is_hole(0));
  EXPECT_TRUE(samples.is_hole(static_cast<double>(nothing)));
  EXPECT_TRUE(samples.is_hole(std::numeric_limits<double>::infinity()));
  EXPECT_FALSE(samples.is_hole(-1));
  samples.noise = DepthNoise::squared;
  EXPECT_TRUE(samples.is_hole(-1));
  EXPECT_FALSE(samples.is_hole(1e-3));
}

TEST(DepthSetup, UsesGivenOrEstimatedNoise) {
  const FrameFormat format = float_format(128, 96);
  std::mt19937 random(4);
  std::normal_distribution<float> gauss(0, 0.05f);
  std::vector<Frame> maps;
  DepthStatistics look({});
  for (int n = 0; n < 2; ++n) {
    const PlaneView<float> plane = maps.emplace_back(slanted(format)).plane<float>(0);
    for (int y = 0; y < format.height; ++y)
      for (int x = 0; x < format.width; ++x)
        plane(x, y) = n == 0 || (x / 4 + y / 4) % 9 == 0 ? nothing : plane(x, y) + gauss(random);
    look.add(maps.back());
  }
  const DepthSetup found = prepare_depth(look, maps, std::nullopt, std::nullopt);
  EXPECT_NEAR(found.scale.sigma, 0.05, 0.01);
  EXPECT_NEAR(static_cast<double>(found.noise.sigma), found.scale.level(), 1e-4);
  const DepthSetup stated = prepare_depth(look, maps, 0.3, std::nullopt);
  EXPECT_EQ(stated.scale.sigma, 0.3);
  EXPECT_TRUE(stated.noise.is_white());
  EXPECT_EQ(prepare_depth(look, {maps.data(), 1}, std::nullopt, std::nullopt).scale.sigma, 0)
      << "a map of holes alone says nothing";
}

// The values that fill large holes are smoother than any noise.
TEST(DepthSetup, EstimatesNoiseNextToLargeHoles) {
  std::mt19937 random(5);
  std::normal_distribution<float> gauss(0, 0.05f);
  const std::vector<Frame> maps{slanted(float_format(128, 96))};
  const PlaneView<float> plane = maps[0].plane<float>(0);
  for (int y = 0; y < plane.height; ++y)
    for (int x = 0; x < plane.width; ++x)
      plane(x, y) = x > 20 && x < 60 && y > 10 && y < 80 ? nothing : plane(x, y) + gauss(random);
  DepthStatistics look({});
  look.add(maps[0]);
  EXPECT_NEAR(prepare_depth(look, maps, std::nullopt, std::nullopt).scale.sigma, 0.05, 0.005);
}

TEST(DepthVstSession, HolesPassThroughAndAreFilledForFilters) {
  const FrameFormat format = float_format(33, 21);
  const Frame noisy = slanted(format);
  const PlaneView<float> depth = noisy.plane<float>(0);
  depth(4, 5) = nothing, depth(5, 5) = -std::numeric_limits<float>::infinity(), depth(6, 5) = -7;
  DepthStatistics look({.invalid = -7});
  look.add(noisy);
  const DepthScale scale = look.scale(0.01, {});
  Frame seen;
  auto session = with_vst(scale, format, std::make_unique<AddingDenoiser>(10.0f, seen));
  const std::optional<Frame> result = session->push(noisy);
  ASSERT_TRUE(result && seen.holes);
  EXPECT_EQ(seen.holes->count(), 3);
  for (int y = 0; y < format.height; ++y)
    for (int x = 0; x < format.width; ++x) {
      EXPECT_TRUE(std::isfinite(seen.plane<float>(0)(x, y)));
      if (seen.holes->at(x, y))
        EXPECT_EQ(std::bit_cast<std::uint32_t>(result->plane<float>(0)(x, y)),
                  std::bit_cast<std::uint32_t>(depth(x, y)));
      else
        EXPECT_NEAR(result->plane<float>(0)(x, y), depth(x, y) + 10 * scale.span / 255, 1e-5);
    }
}

TEST(DepthVstSession, ResultsNeverBecomeHoles) {
  const FrameFormat format{.width = 16, .height = 16, .sample = SampleType::u16, .bits = 16};
  const Frame noisy = test_support::make_frame(format);
  for (int y = 0; y < 16; ++y)
    for (int x = 0; x < 16; ++x)
      noisy.plane<std::uint16_t>(0)(x, y) = static_cast<std::uint16_t>(x == 0 ? 0 : 1 + y % 3);
  DepthStatistics look({.invalid = 0});
  look.add(noisy);
  Frame seen;
  auto session =
      with_vst(look.scale(0.5, {}), format, std::make_unique<AddingDenoiser>(-200.0f, seen));
  const std::optional<Frame> result = session->push(noisy);
  ASSERT_TRUE(result);
  for (int y = 0; y < 16; ++y)
    for (int x = 0; x < 16; ++x)
      EXPECT_EQ(result->plane<std::uint16_t>(0)(x, y) == 0, x == 0) << x << ", " << y;
}

TEST(DepthVstSession, RejectsColourFrames) {
  FrameFormat format = float_format(16, 16);
  format.layout = Layout::rgb;
  Frame seen;
  EXPECT_THROW((void)with_vst({}, format, std::make_unique<AddingDenoiser>(0.0f, seen)),
               InvalidArgument);
}

}  // namespace
}  // namespace lull
