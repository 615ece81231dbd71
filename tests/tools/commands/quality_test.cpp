#include "tools/commands/quality.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "support/pictures.h"
#include "tools/support/clips.h"

namespace lull::tools {
namespace {

/// Computes SSIM from the definition of Wang 2004, equations 13 to 17, in double, with two passes
/// for each window.
double ssim_reference(const Plane<float>& a, const Plane<float>& b, double peak) {
  const int wx = std::min(11, a.width()), wy = std::min(11, a.height());
  const double c1 = std::pow(0.01 * peak, 2), c2 = std::pow(0.03 * peak, 2);
  const auto weight = [](int i, int length) {
    return std::exp(-std::pow((i - (length - 1) / 2.0) / 1.5, 2) / 2);
  };
  double total = 0;
  int places = 0;
  for (int y0 = 0; y0 + wy <= a.height(); ++y0)
    for (int x0 = 0; x0 + wx <= a.width(); ++x0, ++places) {
      const auto mean = [&](auto&& value) {
        double sum = 0, weights = 0;
        for (int y = 0; y < wy; ++y)
          for (int x = 0; x < wx; ++x) {
            const double w = weight(x, wx) * weight(y, wy);
            sum += w * value(a.view()(x0 + x, y0 + y), b.view()(x0 + x, y0 + y));
            weights += w;
          }
        return sum / weights;
      };
      const double ma = mean([](double p, double) { return p; });
      const double mb = mean([](double, double q) { return q; });
      const double va = mean([&](double p, double) { return (p - ma) * (p - ma); });
      const double vb = mean([&](double, double q) { return (q - mb) * (q - mb); });
      const double cov = mean([&](double p, double q) { return (p - ma) * (q - mb); });
      total += (2 * ma * mb + c1) * (2 * cov + c2) / ((ma * ma + mb * mb + c1) * (va + vb + c2));
    }
  return total / places;
}

PlaneView<const float> view(const Plane<float>& plane) { return plane.view(); }

TEST(Quality, SsimMatchesTheDefinition) {
  for (const auto& [width, height] :
       {std::pair{40, 30}, {11, 11}, {12, 40}, {10, 25}, {25, 3}, {1, 1}, {1, 20}}) {
    const Plane<float> a = lull::test_support::texture_picture(width, height);
    for (const double sigma : {2.0, 20.0, 80.0}) {
      const Plane<float> b = lull::test_support::with_noise(a.view(), sigma);
      // The tolerance is for float with a peak of 1: 5 means of up to 22 terms, each with an error
      // of 22 * 2^-24 * 0.25, divided by at least c2 = 0.0009.
      EXPECT_NEAR(ssim(view(a), view(b), 255.0), ssim_reference(a, b, 255), 5 * 3.3e-7 / 0.0009)
          << width << "x" << height << " sigma " << sigma;
    }
  }
}

TEST(Quality, SsimIsPreciseOnARealisticPicture) {
  const Plane<float> a = lull::test_support::texture_picture(60, 50);
  const Plane<float> b = lull::test_support::with_noise(a.view(), 20);
  EXPECT_NEAR(ssim(view(a), view(b), 255.0), ssim_reference(a, b, 255), 1e-5);
}

TEST(Quality, EqualPicturesHaveSsimOne) {
  for (const float value : {0.0f, 128.0f, 255.0f}) {
    Plane<float> flat(30, 20);
    for (int y = 0; y < 20; ++y) std::fill_n(flat.view().row(y), 30, value);
    EXPECT_NEAR(ssim(view(flat), view(flat), 255.0), 1, 1e-6);
  }
  const Plane<float> a = lull::test_support::texture_picture(64, 64);
  EXPECT_NEAR(ssim(view(a), view(a), 255.0), 1, 1e-6);
}

TEST(Quality, SampleTypesAgree) {
  const FrameFormat f8{.width = 33, .height = 21};
  const FrameFormat f16{.width = 33, .height = 21, .sample = SampleType::u16, .bits = 16};
  const Frame a = clean_picture(f8), b = noisy_picture(a, 20);
  const auto widened = [&](const Frame& frame) {  // 257 * v: the same share of full scale
    Frame wide = lull::test_support::make_frame(f16);
    for (int y = 0; y < 21; ++y)
      for (int x = 0; x < 33; ++x)
        wide.plane<std::uint16_t>(0)(x, y) =
            static_cast<std::uint16_t>(257 * frame.plane<std::uint8_t>(0)(x, y));
    return wide;
  };
  const PlaneQuality narrow = compare_frames(a, b).at(0);
  const PlaneQuality wide = compare_frames(widened(a), widened(b)).at(0);
  EXPECT_NEAR(narrow.psnr, wide.psnr, 1e-9);
  EXPECT_NEAR(narrow.ssim, wide.ssim, 1e-5);
  EXPECT_NEAR(narrow.mse,
              lull::tools::mean_squared_error(view(lull::test_support::plane_of(a, 0)),
                                              view(lull::test_support::plane_of(b, 0))),
              1e-9);
}

TEST(Quality, ErrorsOfTheLargestSamplesDoNotOverflow) {
  const FrameFormat f16{.width = 70, .height = 70, .sample = SampleType::u16, .bits = 16};
  const Frame black = lull::test_support::make_frame(f16, 0, 0);
  const Frame white = lull::test_support::make_frame(f16, 0, 255);
  const PlaneQuality quality = compare_frames(black, white).at(0);
  EXPECT_EQ(quality.mse, 65535.0 * 65535.0);
  EXPECT_EQ(quality.psnr, 0);
  EXPECT_GE(quality.ssim, 0);
  EXPECT_LT(quality.ssim, 1e-3);
}

TEST(Quality, PsnrOfEqualPicturesIsInfinite) {
  EXPECT_EQ(psnr(0, 255), std::numeric_limits<double>::infinity());
  EXPECT_NEAR(psnr(1, 255), 48.1308, 1e-4);
  EXPECT_TRUE(std::isnan(psnr(std::numeric_limits<double>::quiet_NaN(), 255)));
}

TEST(Quality, SamplesThatAreNotFiniteDoNotCount) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const FrameFormat floats{.width = 40, .height = 30, .sample = SampleType::f32, .bits = 32};
  const Frame a = lull::test_support::make_frame(floats, 0, 0);
  const Frame b = lull::test_support::make_frame(floats, 0, 0);
  for (int y = 0; y < 30; ++y)
    for (int x = 0; x < 40; ++x) {
      a.plane<float>(0)(x, y) = 0.5f;
      b.plane<float>(0)(x, y) = 0.6f;
    }
  const PlaneQuality finite = compare_frames(a, b).at(0);
  EXPECT_EQ(finite.not_finite, 0);
  EXPECT_NEAR(finite.psnr, 20, 1e-4);
  a.plane<float>(0)(1, 2) = b.plane<float>(0)(1, 2) = std::nanf("");
  a.plane<float>(0)(2, 2) = b.plane<float>(0)(2, 2) = infinity;
  b.plane<float>(0)(3, 2) = -infinity;
  const PlaneQuality quality = compare_frames(a, b).at(0);
  EXPECT_EQ(quality.not_finite, 3);
  EXPECT_NEAR(quality.mse, finite.mse, 1e-9);
  EXPECT_NEAR(quality.psnr, finite.psnr, 1e-9);
  EXPECT_NEAR(quality.ssim, finite.ssim, 1e-6);
  for (int y = 0; y < 30; ++y) std::fill_n(a.plane<float>(0).row(y), 40, infinity);
  const PlaneQuality none = compare_frames(a, b).at(0);
  EXPECT_EQ(none.not_finite, 40 * 30);
  EXPECT_TRUE(std::isnan(none.psnr));
  EXPECT_TRUE(std::isnan(none.ssim));
}

TEST(Quality, DifferentFormatsAreRejected) {
  const Frame a = clean_picture({.width = 8, .height = 8});
  const Frame b = clean_picture({.width = 8, .height = 9});
  EXPECT_THROW((void)compare_frames(a, b), InvalidArgument);
}

}  // namespace
}  // namespace lull::tools
