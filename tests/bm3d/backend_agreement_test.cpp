// Backends against the reference, as a whole: the same quality, whatever the parameters.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "bm3d/each_backend.h"
#include "bm3d/names.h"

namespace lull::bm3d {
namespace {

class OtherBackend : public EachBackend {};

INSTANTIATE_TEST_SUITE_P(Bm3d, OtherBackend, ::testing::Values(BackendKind::cpu, BackendKind::cuda),
                         name_of_backend);

TEST_P(OtherBackend, AgreesWithTheReference) {
  // Rounding flips a few matches and thresholds; what must agree is the quality, as far as a
  // picture this small can tell (see the footage below).
  for (const Profile profile : {Profile::fast, Profile::balanced, Profile::high, Profile::paper})
    for (const float sigma : {10.0f, 50.0f}) {
      const Params params = make_params(profile, {sigma, sigma, sigma});
      const Frame noisy = noisy_frame(gray(112, 96, SampleType::f32, 32), sigma);
      const Frame expected =
          run_one(*open(params, noisy.format, {.kind = BackendKind::reference}), noisy);
      const Frame actual = denoise(params, noisy);
      EXPECT_NEAR(gain(noisy, actual, 0), gain(noisy, expected, 0), 0.06)
          << name(profile) << " at " << sigma;
      // 40 dB: off by 2.5 on average, a tenth of what the noise was at its lowest. With `fast` few
      // estimates meet at a sample, and each flipped decision shows.
      EXPECT_GT(psnr(plane_of(actual, 0).view(), plane_of(expected, 0).view()),
                profile == Profile::fast ? 39 : 40)
          << name(profile) << " at " << sigma;
    }
}

// Real content, noise from low to high, for it must not matter how a backend represents what it
// matches. Flipped decisions go either way: the mean difference is the measure.
TEST_P(OtherBackend, AgreesWithTheReferenceOnFootage) {
  std::vector<Plane<float>> pictures;
  if (const auto data = data_folder()) {
    pictures.push_back(load_luma(*data / "video/CiscoVT2people_320x192_12fps.yuv", 320, 192));
    pictures.push_back(load_luma(*data / "video/park_joy_480x270_10f.y4m", 480, 270));
  } else {
    // With grain, as footage has: a texture that repeats exactly has ties instead of neighbours.
    pictures.push_back(with_noise(texture_picture(320, 192).view(), 6, 77));
    pictures.push_back(with_noise(texture_picture(320, 192, 1).view(), 6, 78));
  }
  double sum = 0;
  for (const Plane<float>& clean : pictures)
    for (const float sigma : {10.0f, 25.0f, 50.0f}) {
      Frame noisy = make_frame(gray(clean.width(), clean.height(), SampleType::f32, 32));
      store_plane(with_noise(clean.view(), sigma).view(), noisy, 0);
      // A grid this dense averages over flipped decisions; that of `fast` is too coarse for it.
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

TEST_P(OtherBackend, AgreesWithTheReferenceInColour) {
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

TEST_P(OtherBackend, TransformsAllWork) {
  // Flipped decisions move the PSNR of a small picture by up to 0.1 dB at 64x48, in either
  // direction, and by less with the root of its area.
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
            << name(first) << ", " << name(second) << ", " << name(across);
      }
}

TEST_P(OtherBackend, TakesTheExtremesOfItsParameters) {
  // A wrong member, window or weight costs whole decibels; see above for what small pictures vary.
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
