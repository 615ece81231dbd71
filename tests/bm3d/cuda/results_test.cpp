// Tests float frames in GPU memory and results that stay in GPU memory: the samples must equal
// those of frames and results in host memory.

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "bm3d/bm3d.h"
#include "core/error.h"
#include "support/device_frames.h"
#include "support/gpu.h"
#include "support/pictures.h"
#include "support/sessions.h"

namespace lull::bm3d {
namespace {

using namespace lull::test_support;

class CudaResults : public GpuTest {};

FrameFormat result_format(Layout layout, SampleType sample, int bits) {
  return {.width = 61, .height = 45, .layout = layout, .sample = sample, .bits = bits};
}

std::vector<Frame> noisy_frames(const FrameFormat& format, int count) {
  std::vector<Frame> frames;
  for (int k = 0; k < count; ++k) {
    Frame frame = make_frame(format);
    for (int i = 0; i < format.planes(); ++i)
      store_plane(
          with_noise(texture_picture(format.plane_width(i), format.plane_height(i), i).view(), 20,
                     10 + 3 * k + i)
              .view(),
          frame, i);
    frame.pts = k;
    frames.push_back(std::move(frame));
  }
  return frames;
}

std::vector<Frame> run_session(const Params& params, const std::vector<Frame>& frames,
                               bool results_on_device) {
  const auto session = open(params, frames[0].format,
                            {.kind = BackendKind::cuda, .results_on_device = results_on_device});
  return run_clip(*session, frames);
}

void expect_the_hosts(const FrameFormat& format, const std::array<float, 3>& sigma, int temporal) {
  const Params params = make_params(Profile::fast, sigma, temporal);
  const std::vector<Frame> noisy = noisy_frames(format, 7);
  const std::vector<Frame> there = uploaded(noisy);
  const std::vector<Frame> expected = run_session(params, noisy, false);
  ASSERT_EQ(expected.size(), noisy.size());
  for (const std::vector<Frame>* frames :
       std::array<const std::vector<Frame>*, 2>{&noisy, &there}) {
    const std::vector<Frame> results = run_session(params, *frames, true);
    ASSERT_EQ(results.size(), noisy.size());
    for (std::size_t k = 0; k < results.size(); ++k) {
      EXPECT_EQ(results[k].pts, expected[k].pts);
      EXPECT_TRUE(same_samples(expected[k], downloaded(results[k])))
          << "frame " << k << ", sigma " << sigma[0] << " " << sigma[1] << ", R " << temporal;
    }
  }
  const std::vector<Frame> back = run_session(params, there, false);
  ASSERT_EQ(back.size(), noisy.size());
  for (std::size_t k = 0; k < back.size(); ++k)
    EXPECT_TRUE(same_samples(expected[k], back[k])) << "frame " << k << " back on the host";
}

TEST_F(CudaResults, DeviceResultsEqualHostResults) {
  for (const int temporal : {0, 2})
    for (const Layout layout : {Layout::gray, Layout::yuv, Layout::rgb})
      for (const auto& [sample, bits] :
           {std::pair{SampleType::u8, 8}, std::pair{SampleType::u16, 10},
            std::pair{SampleType::f32, 32}})
        for (const auto& sigma : {std::array<float, 3>{20, 20, 20}, std::array<float, 3>{20, 0, 0},
                                  std::array<float, 3>{0, 0, 0}})
          expect_the_hosts(result_format(layout, sample, bits), sigma, temporal);
}

// The session must not overwrite the memory of a result that the caller still holds.
TEST_F(CudaResults, StayValidAfterTheSession) {
  const FrameFormat format = result_format(Layout::gray, SampleType::u8, 8);
  const Params params = make_params(Profile::fast, {20, 20, 20});
  const std::vector<Frame> noisy = noisy_frames(format, 24);
  const std::vector<Frame> expected = run_session(params, noisy, false);
  const std::vector<Frame> results = run_session(params, noisy, true);  // the session is destroyed
  for (std::size_t k = 0; k < results.size(); ++k)
    EXPECT_TRUE(same_samples(expected[k], downloaded(results[k]))) << k;
}

TEST_F(CudaResults, KeepNanAndOutOfRangeSamples) {
  FrameFormat format = result_format(Layout::gray, SampleType::f32, 32);
  std::vector<Frame> noisy = noisy_frames(format, 1);
  noisy[0].plane<float>(0)(9, 9) = std::numeric_limits<float>::quiet_NaN();
  noisy[0].plane<float>(0)(30, 9) = 77;
  const Params params = make_params(Profile::fast, {20, 20, 20});
  const std::vector<Frame> expected = run_session(params, noisy, false);
  const std::vector<Frame> results = run_session(params, {uploaded(noisy[0])}, true);
  EXPECT_TRUE(same_samples(expected[0], downloaded(results[0])));
}

TEST(Results, OnTheDeviceAreRejectedByTheCpuBackend) {
  const FrameFormat format = result_format(Layout::gray, SampleType::u8, 8);
  const Params params = make_params(Profile::fast, {20, 20, 20});
  EXPECT_THROW((void)open(params, format, {.results_on_device = true}), InvalidArgument);
}

}  // namespace
}  // namespace lull::bm3d
