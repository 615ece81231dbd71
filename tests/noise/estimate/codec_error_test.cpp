#include "noise/estimate/codec_error.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>

#include "noise/estimate/clips.h"
#include "noise/stabiliser.h"

namespace lull {
namespace {

using namespace clips;

NoiseEstimate estimate_over_time(const std::array<float, 3>& level) {
  NoiseEstimate estimate;
  estimate.noise = NoiseModel(level);
  estimate.level = level;
  estimate.excerpt_level = {level[0]};
  return estimate;
}

TEST(CodecError, VariancesAddAndMeasuredLevelsStay) {
  NoiseEstimate found = estimate_over_time({3, 2, 0});
  add_codec_error({20, 15, 10}, Layout::yuv, found);
  EXPECT_EQ(found.level, (std::array<float, 3>{3, 2, 0}));
  EXPECT_NEAR(found.noise.sigma(0), std::hypot(3.0f, found.codec_error[0]), 0.02);
  EXPECT_NEAR(found.noise.sigma(1), std::hypot(2.0f, found.codec_error[1]), 0.02);
  EXPECT_NEAR(found.noise.sigma(2), found.codec_error[2], 0.02);
  EXPECT_GT(found.codec_error[0], found.codec_error[1]);
  EXPECT_GT(found.codec_error[2], 1);
}

TEST(CodecError, FrameComparisonsUseTheMeasuredLevel) {
  NoiseEstimate found = estimate_over_time({3, 2, 0});
  add_codec_error({40, 30, 30}, Layout::yuv, found);
  EXPECT_NEAR(found.noise.plane(0).level_in_samples(), 3, 0.01);
  EXPECT_NEAR(found.noise.plane(1).level_in_samples(), 2, 0.01);
  EXPECT_LE(found.noise.plane(2).level_in_samples(), 0.5f);
  EXPECT_NO_THROW(validate(found.noise));
}

TEST(CodecError, CorrelationIsThatOfTheSum) {
  NoiseEstimate found =
      estimate_of(measure_clip(clip(grey(), blurred(8), texture, 4)), Layout::gray);
  found.excerpt_level = {found.level[0]};
  const double before = found.noise.plane(0).correlation_at(1, 0);
  add_codec_error({40, 0, 0}, Layout::gray, found);
  const double share =
      found.level[0] * found.level[0] /
      (found.level[0] * found.level[0] + found.codec_error[0] * found.codec_error[0]);
  EXPECT_NEAR(found.noise.plane(0).correlation_at(1, 0), before * share, 1e-5);
  EXPECT_EQ(found.noise.plane(0).correlation_at(0, 0), 1);
}

// The error has equal variance at all brightnesses, so it changes the shape of the curve. The level
// of the curve stays that of the measured noise.
TEST(CodecError, AddsToTheCurveOfBrightness) {
  NoiseEstimate found = estimate_over_time({4, 0, 0});
  auto curve = std::make_shared<NoiseCurve>();
  for (int i = 0; i < NoiseCurve::knots; ++i) curve->sigma[i] = 2 + 0.1f * static_cast<float>(i);
  curve->low = 16;
  found.noise.plane(0).curve = curve;
  found.noise.plane(0).sigma = stabilised_sigma(*curve);
  add_codec_error({20, 20, 20}, Layout::gray, found);
  const PlaneNoise& noise = found.noise.plane(0);
  EXPECT_NEAR(noise.level_in_samples(), curve->level(), 1e-4);
  EXPECT_EQ(noise.curve->low, 16);
  const float strength = noise.sigma / stabilised_sigma(*noise.curve);
  for (const float at : {0.0f, 100.0f, 255.0f})
    EXPECT_NEAR(strength * noise.curve->at(at), std::hypot(curve->at(at), found.codec_error[0]),
                0.03f)
        << at;
}

TEST(CodecError, IsStrongerInClipsWithDarkAreas) {
  NoiseEstimate found = estimate_over_time({3, 2, 2}), dark = found, clean = estimate_over_time({});
  dark.has_dark_areas = true;
  add_codec_error({20, 20, 20}, Layout::yuv, found);
  add_codec_error({20, 20, 20}, Layout::yuv, dark);
  for (int i = 0; i < 3; ++i) EXPECT_GT(dark.codec_error[i], 1.1f * found.codec_error[i]);
  NoiseEstimate clean_dark = clean;
  clean_dark.has_dark_areas = true;
  add_codec_error({30, 30, 30}, Layout::yuv, clean);
  add_codec_error({30, 30, 30}, Layout::yuv, clean_dark);
  EXPECT_EQ(clean_dark.codec_error, clean.codec_error);
}

TEST(CodecError, CoarserQuantisationGivesMoreError) {
  float before = 0;
  for (const float step : {1.5f, 6.0f, 12.0f, 18.0f, 24.0f, 60.0f}) {
    NoiseEstimate found = estimate_over_time({3, 3, 3});
    add_codec_error({step, step, step}, Layout::yuv, found);
    EXPECT_GT(found.codec_error[0], before) << step;
    before = found.codec_error[0];
  }
}

TEST(CodecError, CleanClipsOfFineQuantisationStayUnchanged) {
  for (const float step : {0.0f, 3.0f, 12.0f}) {
    NoiseEstimate found = estimate_over_time({0, 0, 0});
    add_codec_error({step, step, step}, Layout::yuv, found);
    EXPECT_EQ(found.noise.sigmas(), (std::array<float, 3>{})) << step;
    EXPECT_EQ(found.codec_error[0], 0) << step;
  }
  NoiseEstimate coarse = estimate_over_time({0, 0, 0});
  add_codec_error({40, 40, 40}, Layout::yuv, coarse);
  EXPECT_GT(coarse.noise.sigma(0), 3);
}

TEST(CodecError, OtherInputsStayUnchanged) {
  NoiseEstimate lossless = estimate_over_time({5, 5, 5});
  add_codec_error({0, 0, 0}, Layout::yuv, lossless);
  EXPECT_EQ(lossless.noise.sigmas(), (std::array<float, 3>{5, 5, 5}));
  EXPECT_EQ(lossless.noise.plane(0).curve, nullptr);
  NoiseEstimate still = estimate_over_time({5, 5, 5});
  still.excerpt_level.clear();
  add_codec_error({40, 40, 40}, Layout::yuv, still);
  EXPECT_EQ(still.noise.sigmas(), (std::array<float, 3>{5, 5, 5}));
  NoiseEstimate rgb = estimate_over_time({5, 5, 5});
  add_codec_error({40, 40, 40}, Layout::rgb, rgb);
  EXPECT_EQ(rgb.noise.sigmas(), (std::array<float, 3>{5, 5, 5}));
}

}  // namespace
}  // namespace lull
