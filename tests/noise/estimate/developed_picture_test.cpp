// Estimates for simulated photographs that were developed without denoising.

#include "support/developed_picture.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "bm3d/bm3d.h"
#include "core/frame_pool.h"
#include "core/samples.h"
#include "noise/estimate/estimate.h"
#include "support/pictures.h"

namespace lull {
namespace {

using test_support::ColourPicture;
using test_support::Demosaicer;
using test_support::Developed;

constexpr int width = 256, height = 192;

Frame frame_of(const ColourPicture& planes) {
  Frame frame = FramePool({.width = width, .height = height, .layout = Layout::rgb}).acquire();
  for (int i = 0; i < 3; ++i) store_plane(planes[i].view(), frame, i);
  return frame;
}

NoiseEstimate estimate(const Frame& frame) {
  const Excerpt excerpt{frame};
  return estimate_noise(std::span(&excerpt, 1));
}

double squared_error(const ColourPicture& a, const Frame& frame, int channel) {
  Plane<float> b(width, height);
  load_plane(frame, channel, b.view());
  double sum = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const double d =
          static_cast<double>(a[channel].view()(x, y)) - static_cast<double>(b.view()(x, y));
      sum += d * d;
    }
  return sum / (width * height);
}

double psnr_of(const ColourPicture& clean, const Frame& frame) {
  double sum = 0;
  for (int i = 0; i < 3; ++i) sum += squared_error(clean, frame, i) / 3;
  return 10 * std::log10(255.0 * 255.0 / sum);
}

Frame denoised(const Frame& noisy, const NoiseModel& noise) {
  const auto session = bm3d::open(bm3d::make_params(bm3d::Profile::fast, noise), noisy.format, {});
  auto result = session->push(noisy);
  if (!result) result = session->drain();
  return *std::move(result);
}

TEST(EstimateDeveloped, EstimatesALevelForEachChannel) {
  for (const Demosaicer demosaicer : {Demosaicer::bilinear, Demosaicer::smooth_hue})
    for (const double gain : {0.0006, 0.003}) {
      const Developed picture =
          test_support::developed(test_support::textured_scene(width, height, 0), gain, demosaicer);
      const Frame noisy = frame_of(picture.noisy);
      const NoiseEstimate found = estimate(noisy);
      EXPECT_TRUE(found.certain) << found.why;
      EXPECT_GT(found.confidence, 0.7f);
      for (int i = 0; i < 3; ++i) {
        const double truth = std::sqrt(squared_error(picture.clean, noisy, i));
        EXPECT_NEAR(static_cast<double>(found.level[i]), truth, 0.3 * truth)
            << "channel " << i << ", gain " << gain;
      }
    }
}

// The texture has up to ten times the energy of the noise of luma, but is grey.
TEST(EstimateDeveloped, DoesNotTakeTextureForNoise) {
  for (const Demosaicer demosaicer : {Demosaicer::bilinear, Demosaicer::smooth_hue})
    for (const double gain : {0.0006, 0.003}) {
      const Developed picture = test_support::developed(
          test_support::textured_scene(width, height, 14), gain, demosaicer);
      const Frame noisy = frame_of(picture.noisy);
      const NoiseEstimate found = estimate(noisy);
      for (int i = 0; i < 3; ++i) {
        const double truth = std::sqrt(squared_error(picture.clean, noisy, i));
        EXPECT_LT(static_cast<double>(found.level[i]), 1.5 * truth)
            << "channel " << i << ", gain " << gain;
        EXPECT_GT(static_cast<double>(found.level[i]), 0.5 * truth)
            << "channel " << i << ", gain " << gain;
      }
      EXPECT_GT(psnr_of(picture.clean, denoised(noisy, found.noise)),
                psnr_of(picture.clean, noisy) + 0.3)
          << "gain " << gain;
    }
}

TEST(EstimateDeveloped, ReportsLittleNoiseInCleanPictures) {
  for (const double texture : {0.0, 14.0}) {
    const Developed picture = test_support::developed(
        test_support::textured_scene(width, height, texture), 0, Demosaicer::smooth_hue);
    const NoiseEstimate found = estimate(frame_of(picture.clean));
    for (int i = 0; i < 3; ++i) EXPECT_LE(found.noise.sigma(i), 2.0f) << "texture " << texture;
  }
}

}  // namespace
}  // namespace lull
