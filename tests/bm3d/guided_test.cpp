// Tests sessions that match groups in a guide, which is a frame that accompanies each frame to be
// filtered.

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bm3d/bm3d.h"
#include "core/describe.h"
#include "core/error.h"
#include "cuda/device_list.h"
#include "pipeline/field_denoiser.h"
#include "support/pictures.h"
#include "support/sessions.h"

namespace lull::bm3d {
namespace {

using namespace lull::test_support;

constexpr float sigma = 50;
constexpr FrameFormat grey{.width = 96, .height = 72};
constexpr FrameFormat rgb{.width = 96, .height = 72, .layout = Layout::rgb};
constexpr FrameFormat yuv420{
    .width = 96, .height = 72, .layout = Layout::yuv, .chroma_shift_x = 1, .chroma_shift_y = 1};

Plane<float> clean_plane(const FrameFormat& format, int n, int i) {
  return texture_picture(format.plane_width(i), format.plane_height(i), 0.3 * n + 0.2 * i);
}

/// Returns a frame without noise, of any sample type.
Frame clean_frame(const FrameFormat& format, int n) {
  Frame frame = make_frame(format);
  for (int i = 0; i < format.planes(); ++i) store_plane(clean_plane(format, n, i).view(), frame, i);
  frame.pts = n;
  return frame;
}

std::vector<Frame> noisy_clip(const FrameFormat& format, int count) {
  std::vector<Frame> frames;
  for (int n = 0; n < count; ++n) {
    Frame& frame = frames.emplace_back(clean_frame(format, n));
    for (int i = 0; i < format.planes(); ++i)
      store_plane(with_noise(clean_plane(format, n, i).view(), sigma, 100 * n + i + 1).view(),
                  frame, i);
  }
  return frames;
}

std::vector<Frame> with_guides(std::vector<Frame> frames, const FrameFormat& kind) {
  for (Frame& frame : frames)
    frame.guide = std::make_shared<const Frame>(clean_frame(kind, static_cast<int>(frame.pts)));
  return frames;
}

/// These parameters are fast enough for the reference backend.
Params params_of(int temporal, bool guided = true) {
  Params params = make_params(Profile::balanced, {sigma, sigma, sigma}, temporal);
  params.hard.window = params.wiener.window = 13;
  params.hard.temporal_window = params.wiener.temporal_window = 5;
  params.guided = guided;
  params.kept = 0;  // guided parameters search in both phases
  params.same_groups = SameGroups::none;
  return params;
}

std::vector<Frame> run(const Params& params, const std::vector<Frame>& frames,
                       BackendKind kind = BackendKind::cpu) {
  return run_clip(*open(params, frames[0].format, {.kind = kind}), frames);
}

double psnr_of(const std::vector<Frame>& frames) {
  double sum = 0;
  int planes = 0;
  for (std::size_t n = 0; n < frames.size(); ++n)
    for (int i = 0; i < frames[n].format.planes(); ++i, ++planes)
      sum += psnr(plane_of(frames[n], i).view(),
                  clean_plane(frames[n].format, static_cast<int>(n), i).view());
  return sum / planes;
}

class GuidedBm3d : public ::testing::TestWithParam<BackendKind> {
 protected:
  void SetUp() override {
    const auto list = cuda::list_devices();
    if (GetParam() == BackendKind::cuda && list.devices.empty())
      GTEST_SKIP() << "no GPU: " << list.reason;
  }
  void expect_gain(const FrameFormat& format, int count, int temporal, double gain) {
    const std::vector<Frame> noisy = noisy_clip(format, count);
    const std::vector<Frame> guided = with_guides(noisy, format);
    const std::vector<Frame> result = run(params_of(temporal), guided, GetParam());
    EXPECT_GT(psnr_of(result), psnr_of(run(params_of(temporal, false), noisy, GetParam())) + gain);
    if (GetParam() == BackendKind::reference) return;
    // Rounding flips some decisions; the remaining difference is far below the noise.
    const std::vector<Frame> wanted = run(params_of(temporal), guided, BackendKind::reference);
    for (int i = 0; i < format.planes(); ++i)
      EXPECT_GT(psnr(plane_of(result[0], i).view(), plane_of(wanted[0], i).view()), 42) << i;
  }
};

TEST_P(GuidedBm3d, GuideImprovesMatching) { expect_gain(grey, 1, 0, 0.5); }
TEST_P(GuidedBm3d, GuideImprovesMatchingInColour) { expect_gain(rgb, 1, 0, 0.05); }
TEST_P(GuidedBm3d, GuideImprovesMatchingInSubsampledPlanes) { expect_gain(yuv420, 1, 0, 0.5); }
TEST_P(GuidedBm3d, GuideImprovesMatchingOverTime) { expect_gain(grey, 5, 1, 0.3); }

TEST_P(GuidedBm3d, AcceptsGuidesOfAnySampleType) {
  FrameFormat deep = grey, floats = grey;
  deep.sample = SampleType::u16, deep.bits = 16;
  floats.sample = SampleType::f32, floats.bits = 32;
  const std::vector<Frame> noisy = noisy_clip(grey, 1);
  const auto from = [&](const FrameFormat& kind) {
    return plane_of(run(params_of(0), with_guides(noisy, kind), GetParam())[0], 0);
  };
  const Plane<float> wanted = from(grey);
  for (const FrameFormat& kind : {deep, floats})
    EXPECT_GT(psnr(from(kind).view(), wanted.view()), 45) << describe(kind);
}

TEST_P(GuidedBm3d, RejectsFramesWithoutAMatchingGuide) {
  const std::vector<Frame> noisy = noisy_clip(grey, 1);
  EXPECT_THROW((void)run(params_of(0), noisy, GetParam()), InvalidArgument);
  EXPECT_THROW((void)run(params_of(1), noisy, GetParam()), InvalidArgument);
  FrameFormat narrow = grey;
  narrow.width -= 8;
  EXPECT_THROW((void)run(params_of(0), with_guides(noisy, narrow), GetParam()), InvalidArgument);
}

// A frame that a session refuses does not discard the results of earlier frames.
TEST_P(GuidedBm3d, RefusedFrameLeavesOtherResults) {
  const std::vector<Frame> frames = with_guides(noisy_clip(grey, 3), grey);
  const auto session = open(params_of(0), grey, {.kind = GetParam(), .streams = 2});
  std::vector<Frame> results;
  const auto keep = [&](std::optional<Frame> frame) {
    if (!frame) return false;
    results.push_back(*std::move(frame));
    return true;
  };
  keep(session->push(frames[0]));
  keep(session->push(frames[1]));
  EXPECT_THROW((void)session->push(noisy_clip(grey, 1)[0]), InvalidArgument);
  keep(session->push(frames[2]));
  while (keep(session->drain())) {
  }
  ASSERT_EQ(results.size(), frames.size());
  for (std::size_t n = 0; n < frames.size(); ++n) EXPECT_EQ(results[n].pts, frames[n].pts);
}

// A session compares each frame with the previous one. A program may push a refused frame again,
// with its guide, which must not count as a repetition of the refused frame.
TEST_P(GuidedBm3d, RefusedFrameIsNotComparedWithLaterFrames) {
  const std::vector<Frame> frames = with_guides(noisy_clip(grey, 4), grey);
  const auto session = open(params_of(1), grey, {.kind = GetParam()});
  std::vector<Frame> results;
  const auto keep = [&](std::optional<Frame> frame) {
    if (!frame) return false;
    results.push_back(*std::move(frame));
    return true;
  };
  for (const Frame& frame : frames) {
    Frame without = frame;
    without.guide.reset();
    EXPECT_THROW((void)session->push(without), InvalidArgument);
    keep(session->push(frame));
  }
  while (keep(session->drain())) {
  }
  const std::vector<Frame> expected = run(params_of(1), frames, GetParam());
  ASSERT_EQ(results.size(), expected.size());
  for (std::size_t n = 0; n < results.size(); ++n)
    EXPECT_TRUE(same_samples(results[n], expected[n])) << n;
}

INSTANTIATE_TEST_SUITE_P(EachBackend, GuidedBm3d,
                         ::testing::Values(BackendKind::reference, BackendKind::cpu,
                                           BackendKind::cuda),
                         [](const auto& tested) {
                           return std::string(tested.param == BackendKind::reference ? "reference"
                                              : tested.param == BackendKind::cpu     ? "cpu"
                                                                                     : "cuda");
                         });

TEST(GuidedFields, CarryTheFieldsOfTheGuide) {
  const Frame whole = with_guides(noisy_clip(grey, 1), grey)[0];
  for (const int parity : {0, 1}) {
    const Frame field = pipeline::field_of(whole, parity);
    ASSERT_NE(field.guide, nullptr);
    EXPECT_EQ(field.guide->format, field.format);
    for (int y = 0; y < field.format.height; ++y)
      for (int x = 0; x < field.format.width; ++x)
        ASSERT_EQ(field.guide->plane<std::uint8_t>(0)(x, y),
                  whole.guide->plane<std::uint8_t>(0)(x, 2 * y + parity));
  }
  // Sessions must accept fields whose guides are fields, too.
  const FrameFormat half = pipeline::field_format(grey);
  const auto session = [&] { return open(params_of(0), half, {}); };
  const auto woven = pipeline::by_fields(grey, session(), session());
  EXPECT_EQ(run_clip(*woven, {whole}).size(), 1u);
}

}  // namespace
}  // namespace lull::bm3d
