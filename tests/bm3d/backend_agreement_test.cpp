// These tests compare complete backends with the reference backend: the quality must be equal for
// all parameters.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "bm3d/each_backend.h"
#include "bm3d/names.h"

namespace lull::bm3d {
namespace {

class BackendAgreement : public EachBackend {};

INSTANTIATE_TEST_SUITE_P(Bm3d, BackendAgreement,
                         ::testing::Values(BackendKind::cpu, BackendKind::cuda), name_of_backend);

TEST_P(BackendAgreement, QualityMatchesReference) {
  // Rounding flips a few matches and thresholds, so the samples differ. The quality must agree
  // within the precision that a picture of this size allows (see QualityMatchesReferenceOnFootage).
  for (const Profile profile : {Profile::fast, Profile::balanced, Profile::high, Profile::paper})
    for (const float sigma : {10.0f, 50.0f}) {
      const Params params = make_params(profile, {sigma, sigma, sigma});
      const Frame noisy = noisy_frame(gray(112, 96, SampleType::f32, 32), sigma);
      const Frame expected =
          run_one(*open(params, noisy.format, {.kind = BackendKind::reference}), noisy);
      const Frame actual = denoise(params, noisy);
      EXPECT_NEAR(gain(noisy, actual, 0), gain(noisy, expected, 0), 0.06)
          << name_of(profile) << " at " << sigma;
      // 40 dB is a mean error of 2.5, a tenth of the weakest noise. With `fast` few estimates
      // overlap at a sample, and each flipped decision is visible.
      EXPECT_GT(psnr(plane_of(actual, 0).view(), plane_of(expected, 0).view()),
                profile == Profile::fast ? 39 : 40)
          << name_of(profile) << " at " << sigma;
    }
}

// The form in which a backend stores the samples for matching must not matter for the quality. The
// test uses real content with weak to strong noise. Flipped decisions change the quality in both
// directions, so the test checks the mean difference.
TEST_P(BackendAgreement, QualityMatchesReferenceOnFootage) {
  std::vector<Plane<float>> pictures;
  if (const auto data = data_folder()) {
    pictures.push_back(load_luma(*data / "video/CiscoVT2people_320x192_12fps.yuv", 320, 192));
    pictures.push_back(load_luma(*data / "video/park_joy_480x270_10f.y4m", 480, 270));
  } else {
    // Footage has grain. In a texture that repeats exactly, the nearest patches would all be ties.
    pictures.push_back(with_noise(texture_picture(320, 192).view(), 6, 77));
    pictures.push_back(with_noise(texture_picture(320, 192, 1).view(), 6, 78));
  }
  double sum = 0;
  for (const Plane<float>& clean : pictures)
    for (const float sigma : {10.0f, 25.0f, 50.0f}) {
      Frame noisy = make_frame(gray(clean.width(), clean.height(), SampleType::f32, 32));
      store_plane(with_noise(clean.view(), sigma).view(), noisy, 0);
      // With such a dense grid, the result averages over flipped decisions. The grid of `fast` is
      // too coarse for that.
      Params params = make_params(Profile::fast, {sigma, sigma, sigma});
      params.hard.step = params.wiener.step = 6;
      const Frame expected =
          run_one(*open(params, noisy.format, {.kind = BackendKind::reference}), noisy);
      const Frame actual = denoise(params, noisy);
      const double difference = psnr(plane_of(actual, 0).view(), clean.view()) -
                                psnr(plane_of(expected, 0).view(), clean.view());
      EXPECT_LT(std::abs(difference), 0.03) << "sigma " << sigma << ", width " << clean.width();
      sum += difference;
    }
  EXPECT_LT(std::abs(sum / 6), 0.01);
}

TEST_P(BackendAgreement, QualityMatchesReferenceInColour) {
  for (const FrameFormat& format :
       {yuv(121, 99, 1, 1, SampleType::f32, 32), rgb(96, 80, SampleType::f32, 32)}) {
    Params params = make_params(Profile::balanced, {25, 15, 20});
    const Frame noisy = noisy_frame(format, 20);
    const Frame expected = run_one(*open(params, format, {.kind = BackendKind::reference}), noisy);
    const Frame actual = denoise(params, noisy);
    for (int i = 0; i < 3; ++i)
      EXPECT_NEAR(gain(noisy, actual, i), gain(noisy, expected, i), 0.15)
          << "layout " << int(format.layout) << ", plane " << i;
  }
}

TEST_P(BackendAgreement, QualityMatchesReferenceWithEveryTransform) {
  // Flipped decisions change the PSNR of a 64x48 picture by up to 0.1 dB in either direction. The
  // change decreases with the square root of the area.
  const Frame noisy = noisy_frame(gray(144, 112), 25);
  for (const Transform first : {Transform::dct, Transform::bior, Transform::dft})
    for (const Transform second : {Transform::dct, Transform::bior, Transform::dft})
      for (const GroupTransform across : {GroupTransform::haar, GroupTransform::wht}) {
        Params params = quick(25);
        params.hard.transform = first;
        params.wiener.transform = second;
        params.hard.group_transform = params.wiener.group_transform = across;
        const Frame expected =
            run_one(*open(params, noisy.format, {.kind = BackendKind::reference}), noisy);
        const Frame actual = denoise(params, noisy);
        EXPECT_NEAR(gain(noisy, actual, 0), gain(noisy, expected, 0), 0.1)
            << name_of(first) << ", " << name_of(second) << ", " << name_of(across);
      }
}

TEST_P(BackendAgreement, QualityMatchesReferenceAtExtremeParameters) {
  // A wrong group member, window or weight costs several decibels. Small pictures vary by up to 0.1
  // dB (see the test above).
  const Frame noisy = noisy_frame(gray(40, 36), 25);
  for (const int window : {1, 127})
    for (const int group : {1, 32})
      for (const int step : {1, 8})
        for (const float kaiser : {0.0f, 4.0f}) {
          Params params = quick(25);
          params.hard.window = params.wiener.window = window;
          params.hard.group = params.wiener.group = group;
          params.hard.step = params.wiener.step = step;
          params.hard.kaiser = params.wiener.kaiser = kaiser;
          const Frame expected =
              run_one(*open(params, noisy.format, {.kind = BackendKind::reference}), noisy);
          const Frame actual = denoise(params, noisy);
          EXPECT_NEAR(gain(noisy, actual, 0), gain(noisy, expected, 0), 0.25)
              << "window " << window << ", group " << group << ", step " << step << ", kaiser "
              << kaiser;
        }
}

}  // namespace
}  // namespace lull::bm3d
