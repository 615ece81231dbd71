#pragma once
// Shared parts of tests that run on every backend: frames of any format and a fixture for each
// backend.

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "bm3d/bm3d.h"
#include "core/error.h"
#include "support/pictures.h"

namespace lull::bm3d {

using namespace lull::test_support;

inline FrameFormat gray(int width, int height, SampleType sample = SampleType::u8, int bits = 8) {
  return {.width = width, .height = height, .sample = sample, .bits = bits};
}
inline FrameFormat yuv(int width, int height, int shift_x, int shift_y,
                       SampleType sample = SampleType::u8, int bits = 8) {
  return {.width = width,
          .height = height,
          .layout = Layout::yuv,
          .sample = sample,
          .bits = bits,
          .chroma_shift_x = shift_x,
          .chroma_shift_y = shift_y};
}
inline FrameFormat rgb(int width, int height, SampleType sample = SampleType::u8, int bits = 8) {
  return {.width = width, .height = height, .layout = Layout::rgb, .sample = sample, .bits = bits};
}

/// These parameters are fast enough for the reference backend, and use all parts of the filter:
/// borders, both phases, windows.
inline Params quick(float sigma) {
  Params params = make_params(Profile::balanced, {sigma, sigma, sigma});
  params.hard.window = params.wiener.window = 13;
  params.hard.step = params.wiener.step = 5;
  params.hard.group = params.wiener.group = 8;
  return params;
}

/// Returns the texture picture with noise in any format. Each plane has its own content and noise.
inline Frame noisy_frame(const FrameFormat& format, double sigma, int padding = 0, int fill = 0) {
  Frame frame = make_frame(format, padding, fill);
  for (int i = 0; i < format.planes(); ++i)
    store_plane(with_noise(texture_picture(format.plane_width(i), format.plane_height(i), i).view(),
                           sigma, 10 + i)
                    .view(),
                frame, i);
  return frame;
}

/// Returns `frame`, a result of noisy_frame(), with a guide: the same picture with other noise of
/// the level `sigma`.
inline Frame with_guide(Frame frame, double sigma) {
  const FrameFormat& format = frame.format;
  Frame guide = make_frame(format);
  for (int i = 0; i < format.planes(); ++i)
    store_plane(with_noise(texture_picture(format.plane_width(i), format.plane_height(i), i).view(),
                           sigma, 50 + i)
                    .view(),
                guide, i);
  frame.guide = std::make_shared<const Frame>(std::move(guide));
  return frame;
}

inline Frame run_one(Denoiser& session, const Frame& frame) {
  std::optional<Frame> out = session.push(frame);
  if (!out) out = session.drain();
  EXPECT_TRUE(out.has_value());
  EXPECT_FALSE(session.drain().has_value());
  return out ? *out : frame;
}

inline double gain(const Frame& noisy, const Frame& clean, int plane) {
  const FrameFormat& f = noisy.format;
  const auto truth = texture_picture(f.plane_width(plane), f.plane_height(plane), plane);
  return psnr(plane_of(clean, plane).view(), truth.view()) -
         psnr(plane_of(noisy, plane).view(), truth.view());
}

/// The fixture skips the test if the backend is not available.
class EachBackend : public ::testing::TestWithParam<BackendKind> {
 protected:
  void SetUp() override {
    backend_.kind = GetParam();
    try {
      (void)open(quick(10), gray(16, 16), backend_);
    } catch (const DeviceUnavailable& error) {
      GTEST_SKIP() << error.what();
    }
  }
  Frame denoise(const Params& params, const Frame& frame) {
    return run_one(*open(params, frame.format, backend_), frame);
  }
  Backend backend_;
};

/// Returns the name of EachBackend's parameter, for INSTANTIATE_TEST_SUITE_P.
inline std::string name_of_backend(const ::testing::TestParamInfo<BackendKind>& tested) {
  return tested.param == BackendKind::reference ? "reference"
         : tested.param == BackendKind::cpu     ? "cpu"
                                                : "cuda";
}

}  // namespace lull::bm3d
