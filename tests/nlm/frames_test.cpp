// Tests sessions over pictures, with and without temporal filtering.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/error.h"
#include "nlm/clips.h"
#include "pipeline/part_denoiser.h"
#include "pipeline/part_scheduler.h"

namespace lull::nlm {
namespace {

using namespace test_support;

constexpr Backend reference_backend{.kind = BackendKind::reference};

const FrameFormat formats[] = {gray(),
                               gray(SampleType::f32),
                               colour(Layout::rgb),
                               colour(Layout::yuv),
                               colour(Layout::yuv, 1, 1),
                               colour(Layout::yuv, 1, 0)};

TEST(NlmFrames, MatchTheReferenceInEveryFormat) {
  for (const FrameFormat& format : formats) {
    const std::vector<Frame> noisy = pan(format, 1);
    // Integers may be rounded to either side.
    EXPECT_LE(max_difference(denoise(quick_params(), noisy, reference_backend),
                             denoise(quick_params(), noisy)),
              1)
        << format.planes();
  }
}

TEST(NlmFrames, MatchTheReferenceOverTime) {
  for (const FrameFormat& format : {gray(SampleType::f32), colour(Layout::yuv, 1, 1)}) {
    const std::vector<Frame> noisy = pan(format, 3);
    Params params = quick_params(1);
    params.search_radius = 1;
    EXPECT_LE(max_difference(denoise(params, noisy, reference_backend), denoise(params, noisy)), 1);
  }
}

TEST(NlmFrames, EveryPlaneImproves) {
  for (const FrameFormat& format : formats) {
    const std::vector<Frame> noisy = pan(format, 1), clean = denoise(clip_params(), noisy);
    for (int i = 0; i < format.planes(); ++i)
      EXPECT_GT(clip_psnr(clean, i), clip_psnr(noisy, i) + 2.5) << format.planes() << " " << i;
  }
}

TEST(NlmFrames, SlowerProfilesHaveBetterQuality) {
  const std::vector<Frame> noisy = pan(gray(), 1);
  const NoiseModel noise({clip_sigma, clip_sigma, clip_sigma});
  const auto gained = [&](Profile profile) {
    return clip_psnr(denoise(make_params(profile, noise), noisy)) - clip_psnr(noisy);
  };
  const double fast = gained(Profile::fast);
  EXPECT_GT(gained(Profile::paper), 6);
  EXPECT_GT(fast, 6);
  EXPECT_GT(gained(Profile::balanced), fast);
  EXPECT_GT(gained(Profile::high), fast);
}

TEST(NlmFrames, NeighbouringFramesImproveQuality) {
  for (const FrameFormat& format : {gray(), colour(Layout::yuv, 1, 1)}) {
    const std::vector<Frame> noisy = pan(format, 7);
    const double alone = clip_psnr(denoise(clip_params(), noisy));
    const double one = clip_psnr(denoise(clip_params(1), noisy));
    const double two = clip_psnr(denoise(clip_params(2), noisy));
    EXPECT_GT(one, alone + 0.5);
    EXPECT_GT(two, one);
  }
}

TEST(NlmFrames, ResultsArriveInOrderWithinTheLatency) {
  const std::vector<Frame> noisy = pan(gray(), 9);
  const auto session = open(clip_params(2), gray(), {});
  EXPECT_EQ(session->latency(), margin(clip_params(2)).after);
  const std::vector<Frame> results = run_clip(*session, noisy);
  ASSERT_EQ(results.size(), noisy.size());
  for (std::size_t n = 0; n < results.size(); ++n) EXPECT_EQ(results[n].pts, noisy[n].pts);
  EXPECT_TRUE(same_clips(results, run_clip(*session, noisy)));  // like a new session
  EXPECT_EQ(open(clip_params(), gray(), {})->latency(), 0);
}

TEST(NlmFrames, ThreadCountDoesNotChangeResult) {
  for (const int temporal : {0, 1}) {
    const std::vector<Frame> noisy = pan(colour(Layout::yuv, 1, 1), 3);
    const std::vector<Frame> one = denoise(clip_params(temporal), noisy, {.threads = 1});
    for (const int threads : {2, 5})
      EXPECT_TRUE(same_clips(one, denoise(clip_params(temporal), noisy, {.threads = threads})));
  }
}

TEST(NlmFrames, PartsMatchTheCompleteClip) {
  const Params params = quick_params(1);
  std::vector<Frame> noisy = pan(gray(), 24);
  noisy[12] = noisy[11];  // a repeated frame
  const std::vector<Frame> whole = denoise(params, noisy);
  const auto open_one = [&] { return open(params, gray(), {.threads = 1}); };
  const auto parts =
      pipeline::by_parts(open_one(), open_one, {{0, 1}, {10, 12}, {23, 23}},
                         {.margin = margin(params), .repeats = open_repeat_finder(params, gray())});
  const std::vector<Frame> results = run_clip(*parts, noisy);
  ASSERT_EQ(results.size(), whole.size());
  for (const int n : {0, 1, 10, 11, 12, 23}) EXPECT_TRUE(same_samples(results[n], whole[n])) << n;
  for (const int frames : {2, 5}) {
    std::vector<std::unique_ptr<Denoiser>> sessions;
    for (int i = 0; i < 2; ++i) sessions.push_back(open_one());
    const auto shared =
        pipeline::shard_parts(std::move(sessions), {.margin = margin(params),
                                                    .frames = frames,
                                                    .repeats = open_repeat_finder(params, gray())});
    EXPECT_TRUE(same_clips(run_clip(*shared, noisy), whole)) << frames;
  }
}

TEST(NlmFrames, NanAndInfinityStayAndDoNotSpread) {
  std::vector<Frame> noisy = pan(gray(SampleType::f32), 1);
  const std::vector<Frame> whole = denoise(quick_params(), noisy);
  const PlaneView<float> plane = noisy[0].plane<float>(0);
  plane(20, 20) = std::numeric_limits<float>::quiet_NaN();
  plane(0, 0) = std::numeric_limits<float>::infinity();
  plane(50, 30) = -1e30f;
  for (const Backend& backend : {Backend{}, reference_backend}) {
    const std::vector<Frame> results = denoise(quick_params(), noisy, backend);
    const PlaneView<float> result = results[0].plane<float>(0);
    EXPECT_TRUE(std::isnan(result(20, 20)));
    EXPECT_EQ(result(0, 0), std::numeric_limits<float>::infinity());
    EXPECT_EQ(result(50, 30), -1e30f);
    for (int y = 0; y < clip_height; ++y)
      for (int x = 0; x < clip_width; ++x)
        if (plane(x, y) > -1e29f && plane(x, y) < 1e29f) {
          ASSERT_NEAR(result(x, y), whole[0].plane<float>(0)(x, y), 40) << x << " " << y;
        }
  }
}

TEST(NlmFrames, PlanesWithoutNoisePassThrough) {
  Params params = clip_params();
  for (const FrameFormat& format : {colour(Layout::rgb), colour(Layout::yuv, 1, 1)})
    for (const std::array<float, 3>& sigma :
         {std::array{20.0f, 0.0f, 20.0f}, {0.0f, 20.0f, 0.0f}}) {
      params.noise = NoiseModel(sigma);
      const std::vector<Frame> noisy = pan(format, 1), clean = denoise(params, noisy);
      for (int i = 0; i < 3; ++i) EXPECT_EQ(same_plane(noisy[0], clean[0], i), sigma[i] == 0) << i;
    }
  params.noise = NoiseModel({0, 0, 0});
  EXPECT_TRUE(same_clips(pan(gray(), 2), denoise(params, pan(gray(), 2))));
}

TEST(NlmFrames, GuideImprovesQuality) {
  const std::vector<Frame> noisy = pan(gray(), 1), clean = pan(gray(), 1, 0);
  Params params = clip_params();
  params.guided = true;
  std::vector<Frame> guided = noisy;
  guided[0].guide = std::make_shared<Frame>(clean[0]);
  EXPECT_GT(clip_psnr(denoise(params, guided)), clip_psnr(denoise(clip_params(), noisy)) + 1);
  params.search_radius = 2;
  EXPECT_LE(max_difference(denoise(params, guided), denoise(params, guided, reference_backend)), 1);
  EXPECT_THROW((void)denoise(params, noisy), InvalidArgument);
  FrameFormat other = gray();
  other.width = 40;
  guided[0].guide = std::make_shared<Frame>(pan(other, 1)[0]);
  EXPECT_THROW((void)denoise(params, guided), InvalidArgument);
}

// A session compares each frame with the previous one. A program may push a refused frame again,
// with its guide, which must not count as a repetition of the refused frame.
TEST(NlmFrames, RefusedFrameIsNotComparedWithLaterFrames) {
  const std::vector<Frame> noisy = pan(gray(), 4), clean = pan(gray(), 4, 0);
  Params params = clip_params();
  params.guided = true, params.temporal = 1;
  std::vector<Frame> guided = noisy;
  for (std::size_t n = 0; n < guided.size(); ++n)
    guided[n].guide = std::make_shared<Frame>(clean[n]);
  const auto session = open(params, gray(), {});
  std::vector<Frame> results;
  for (std::size_t n = 0; n < guided.size(); ++n) {
    EXPECT_THROW((void)session->push(noisy[n]), InvalidArgument);
    if (auto ready = session->push(guided[n])) results.push_back(*std::move(ready));
  }
  while (auto ready = session->drain()) results.push_back(*std::move(ready));
  const std::vector<Frame> expected = denoise(params, guided);
  ASSERT_EQ(results.size(), expected.size());
  for (std::size_t n = 0; n < results.size(); ++n)
    EXPECT_TRUE(same_samples(results[n], expected[n])) << n;
}

TEST(NlmFrames, RejectsInvalidParameters) {
  const auto refused = [](const std::function<void(Params&)>& change) {
    Params params = clip_params();
    change(params);
    EXPECT_THROW((void)open(params, gray(), {}), InvalidArgument);
  };
  refused([](Params& p) { p.block = 3; });
  refused([](Params& p) { p.step = 8; });
  refused([](Params& p) { p.patch_radius = 9; });
  refused([](Params& p) { p.search_radius = 0; });
  refused([](Params& p) { p.search_radius = 21; });
  refused([](Params& p) { p.h = 0; });
  refused([](Params& p) { p.h = std::numeric_limits<float>::quiet_NaN(); });
  refused([](Params& p) { p.mean_term = -1; });
  refused([](Params& p) { p.temporal = 9; });
  refused([](Params& p) { p.domain = Domain::volumes, p.temporal = 1; });
  EXPECT_THROW((void)open(clip_params(), gray(), {.threads = -1}), InvalidArgument);
  const auto session = open(clip_params(), gray(), {});
  EXPECT_THROW((void)session->push(pan(colour(Layout::rgb), 1)[0]), InvalidArgument);
}

}  // namespace
}  // namespace lull::nlm
