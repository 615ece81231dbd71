// Coloured noise on the GPU: complete sessions compared with the reference.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "bm3d/bm3d.h"
#include "bm3d/cuda/filter/covariance_cuda.h"
#include "bm3d/transforms.h"
#include "noise/patch_covariance.h"
#include "support/coloured_clips.h"
#include "support/gpu.h"
#include "support/sessions.h"

namespace lull::bm3d {
namespace {

using namespace lull::test_support;

constexpr Backend gpu(int streams = 1) { return {.kind = BackendKind::cuda, .streams = streams}; }

using CudaColouredNoise = GpuTest;

/// Checks the PSNR between the results and that of each result against the clean picture.
void expect_alike(const Plane<float>& actual, const Plane<float>& expected, float phase,
                  double at_least, double within) {
  const Plane<float> clean = texture_picture(actual.width(), actual.height(), phase);
  EXPECT_GT(psnr(actual.view(), expected.view()), at_least);
  EXPECT_NEAR(psnr(actual.view(), clean.view()), psnr(expected.view(), clean.view()), within);
}

/// Filters one frame with both backends and compares it plane by plane.
void expect_agreement(const Params& params, const Frame& frame) {
  const auto actual = run_clip(*open(params, frame.format, gpu()), {frame});
  const auto expected =
      run_clip(*open(params, frame.format, {.kind = BackendKind::reference}), {frame});
  for (int i = 0; i < frame.format.planes(); ++i) {
    SCOPED_TRACE("plane " + std::to_string(i));
    expect_alike(plane_of(actual.at(0), i), plane_of(expected.at(0), i), static_cast<float>(i), 42,
                 0.2);
  }
}

TEST_F(CudaColouredNoise, AgreesWithTheReferenceInColour) {
  for (const FrameFormat& format : {rgb_floats(80, 64), yuv420_floats(80, 64)}) {
    const auto [frame, noise] = coloured_frame(format);
    Params params = make_params(Profile::balanced, noise);
    params.hard.window = params.wiener.window = 13;
    SCOPED_TRACE(format.layout == Layout::rgb ? "rgb" : "420");
    expect_agreement(params, frame);
  }
}

// Each plane is filtered with its own noise although the planes share groups.
TEST_F(CudaColouredNoise, AgreesWithTheReferenceIfOtherPlanesHaveWhiteNoise) {
  auto [frame, noise] = coloured_frame(yuv420_floats(80, 64));
  for (const int white : {0, 1}) {
    NoiseModel mixed = noise;
    mixed.plane(white).correlation = nullptr;
    Params params = make_params(Profile::balanced, mixed);
    params.hard.window = params.wiener.window = 13;
    SCOPED_TRACE("white: plane " + std::to_string(white));
    expect_agreement(params, frame);
  }
}

TEST_F(CudaColouredNoise, AgreesWithTheReferenceInGroupsOf32AndWalshHadamard) {
  const ColouredNoise noise = averaged_noise(72, 56, 30, 3);
  Frame frame = make_frame(gray_floats(72, 56));
  store_plane(sum_of(texture_picture(72, 56).view(), noise.samples.view()).view(), frame, 0);
  for (const auto across : {GroupTransform::haar, GroupTransform::wht}) {
    Params params = coloured_params(noise, 0);
    params.hard.group = params.wiener.group = 32;
    params.hard.group_transform = params.wiener.group_transform = across;
    expect_agreement(params, frame);
  }
}

// Members in other frames share no noise with the reference patch, so the matcher does not add its
// bias to them.
TEST_F(CudaColouredNoise, AgreesWithTheReferenceOverTime) {
  const ColouredNoise noise = blurred_noise(8, 8, 15, true, false);
  const std::vector<Frame> clip = noisy_clip(5, 72, 56, noise);
  for (const int group : {8, 32}) {
    Params params = coloured_params(noise, 2);
    params.hard.group = params.wiener.group = group;
    const FrameFormat format = gray_floats(72, 56);
    const auto actual = run_clip(*open(params, format, gpu()), clip);
    const auto expected = run_clip(*open(params, format, {.kind = BackendKind::reference}), clip);
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t n = 0; n < actual.size(); ++n) {
      SCOPED_TRACE("frame " + std::to_string(n) + ", groups of " + std::to_string(group));
      expect_alike(plane_of(actual[n], 0), plane_of(expected[n], 0), 0, 42, 0.2);
    }
  }
}

TEST_F(CudaColouredNoise, StreamsAndBatchesDoNotChangeResult) {
  const auto [frame, noise] = coloured_frame(rgb_floats(117, 64));
  const std::vector<Frame> clip(5, frame);
  Params params = make_params(Profile::balanced, noise);
  const auto expected = run_clip(*open(params, frame.format, gpu(1)), clip);
  ASSERT_EQ(expected.size(), clip.size());
  for (const int streams : {2, 3}) {
    params.batch = streams == 3 ? BatchSize{32, 32} : BatchSize{};
    const auto actual = run_clip(*open(params, frame.format, gpu(streams)), clip);
    ASSERT_EQ(actual.size(), clip.size());
    for (std::size_t n = 0; n < clip.size(); ++n)
      EXPECT_TRUE(same_samples(actual[n], expected[n])) << streams << " streams, frame " << n;
  }
}

// Without the bias the matcher would prefer adjacent patches because they share noise.
TEST_F(CudaColouredNoise, KnownSpectrumBeatsAnySingleLevel) {
  const Plane<float> clean = texture_picture(128, 96);
  const ColouredNoise noise = averaged_noise(128, 96, 15, 3);
  Frame frame = make_frame(gray_floats(128, 96));
  store_plane(sum_of(clean.view(), noise.samples.view()).view(), frame, 0);
  const auto result_of = [&](const Params& params) {
    const auto results = run_clip(*open(params, frame.format, gpu()), {frame});
    return psnr(plane_of(results.at(0), 0).view(), clean.view());
  };
  Params known = coloured_params(noise, 0);
  double best_white = 0;
  for (const float factor : {1.0f, 1.5f, 2.0f}) {
    Params white = make_params(Profile::balanced, {factor * noise.sigma, 0, 0});
    white.hard.window = white.wiener.window = known.hard.window;
    best_white = std::max(best_white, result_of(white));
  }
  known.mu2 = 0.7f;  // 1.3 is meant for photographs; this texture repeats everywhere
  EXPECT_GT(result_of(known), best_white + 0.3);
}

// The contents of the tables, checked without a GPU.
TEST(KernelCovariance, HoldsDecorrelationInHalfPrecision) {
  const PlaneNoise noise{9, slanted_correlation()};
  for (const Transform transform : {Transform::dct, Transform::bior}) {
    const PatchCovariance covariance(noise, axis_rows(transform));
    const KernelCovariance table = make_kernel_covariance(noise, transform);
    ASSERT_EQ(table.view.reach_x, covariance.reach_x());
    ASSERT_EQ(table.decorrelation.size(),
              static_cast<std::size_t>(table.view.uncorrelated + 1) * 64);
    EXPECT_LE((table.view.uncorrelated + 1) * 128, 65536) << "places are 16 bits";
    const auto value = [](std::uint16_t half) {
      const int exponent = half >> 10 & 31, fraction = half & 1023;
      const double size =
          exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
      return half >> 15 != 0 ? -size : size;
    };
    for (int i = 0; i < 64; ++i) {
      const int v = i / 8, u = i % 8;
      const double own = covariance.at(0, 0)[i];
      EXPECT_NEAR(table.own[u * 8 + v], own, 1e-5 * own);
      EXPECT_NEAR(table.own[64 + u * 8 + v], std::sqrt(own), 1e-5 * std::sqrt(own));
      const auto at = [&](int place) {
        return value(table.decorrelation[place * 64 + CovarianceView::column(place, u) * 8 + v]);
      };
      EXPECT_EQ(at(table.view.uncorrelated), 1);
      EXPECT_EQ(at(0), 0);
      for (const auto& [dx, dy] : {std::pair(1, 0), std::pair(-9, 3), std::pair(14, 14)}) {
        const double r = 1 - covariance.at(dx, dy)[i] / own;
        EXPECT_NEAR(at(std::abs(table.view.index(dx, dy))), r, 5e-4 * std::abs(r) + 1e-6);
      }
    }
  }
}

}  // namespace
}  // namespace lull::bm3d
