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

/// Returns the mean and the noise level of a channel in the rows [from, to).
struct Rows {
  double mean = 0, level = 0;
};
Rows in_rows(const Developed& picture, int channel, int from, int to) {
  Rows rows;
  for (int y = from; y < to; ++y)
    for (int x = 0; x < width; ++x) {
      const auto clean = static_cast<double>(picture.clean[channel].view()(x, y));
      const double d = static_cast<double>(picture.noisy[channel].view()(x, y)) - clean;
      rows.mean += clean / (width * (to - from));
      rows.level += d * d / (width * (to - from));
    }
  return {rows.mean, std::sqrt(rows.level)};
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
        EXPECT_NEAR(static_cast<double>(found.level[i]), truth, 0.35 * truth)
            << "channel " << i << ", gain " << gain;
      }
    }
}

TEST(EstimateDeveloped, EstimatesANoiseCurveForEachChannel) {
  const Developed picture = test_support::developed(test_support::textured_scene(width, height, 0),
                                                    0.0006, Demosaicer::smooth_hue);
  const NoiseEstimate found = estimate(frame_of(picture.noisy));
  ASSERT_TRUE(found.noise.is_of_opponents());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(found.noise.plane(i).curve) << "channel " << i;
    const NoiseCurve& curve = *found.noise.plane(i).curve;
    EXPECT_GT(curve.at(20), 1.25f * curve.at(220)) << "channel " << i;
    for (const int from : {0, height / 2 - 16, height - 32}) {
      const Rows truth = in_rows(picture, i, from, from + 32);
      EXPECT_NEAR(static_cast<double>(curve.at(static_cast<float>(truth.mean))), truth.level,
                  0.3 * truth.level)
          << "channel " << i << ", row " << from;
    }
  }
  // The white balance amplifies red and blue.
  EXPECT_GT(found.noise.plane(0).curve->at(128), 1.5f * found.noise.plane(1).curve->at(128));
  EXPECT_GT(found.noise.plane(2).curve->at(128), 1.5f * found.noise.plane(1).curve->at(128));
}

TEST(EstimateDeveloped, FiltersBetterThanWithTheTrueConstantLevels) {
  for (const double gain : {0.0006, 0.003}) {
    const Developed picture = test_support::developed(
        test_support::textured_scene(width, height, 14), gain, Demosaicer::smooth_hue);
    const Frame noisy = frame_of(picture.noisy);
    std::array<float, 3> levels;
    for (int i = 0; i < 3; ++i)
      levels[i] = static_cast<float>(std::sqrt(squared_error(picture.clean, noisy, i)));
    EXPECT_GT(psnr_of(picture.clean, denoised(noisy, estimate(noisy).noise)),
              psnr_of(picture.clean, denoised(noisy, NoiseModel(levels))) + 0.2)
        << "gain " << gain;
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

/// Returns a scene without flat areas: the part of a wide scene that is full of texture.
ColourPicture scene_without_flat_areas(double strength) {
  const ColourPicture wide = test_support::textured_scene(4 * width, height, strength);
  ColourPicture scene;
  for (const Plane<float>& plane : wide) {
    Plane<float> part(width, height);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) part.view()(x, y) = plane.view()(3 * width + x, y);
    scene.push_back(std::move(part));
  }
  return scene;
}

TEST(EstimateDeveloped, ImprovesPicturesWithoutFlatAreas) {
  const Developed picture =
      test_support::developed(scene_without_flat_areas(5), 0.0003, Demosaicer::smooth_hue);
  const Frame noisy = frame_of(picture.noisy);
  EXPECT_GT(psnr_of(picture.clean, denoised(noisy, estimate(noisy).noise)),
            psnr_of(picture.clean, noisy) + 0.2);
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
