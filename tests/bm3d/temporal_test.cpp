// Tests clips with the backends that match patches in other frames, and the rules that select these
// frames.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "bm3d/bm3d.h"
#include "bm3d/pans.h"
#include "core/describe.h"
#include "core/error.h"
#include "support/pictures.h"
#include "support/sessions.h"
#include "time/timeline.h"

namespace lull::bm3d {
namespace {

using namespace lull::test_support;

constexpr int width = 96, height = 72;
constexpr float sigma = pan_sigma;

FrameFormat gray(SampleType sample = SampleType::u8, int bits = 8) {
  return {.width = width, .height = height, .sample = sample, .bits = bits};
}
constexpr FrameFormat yuv420{.width = width,
                             .height = height,
                             .layout = Layout::yuv,
                             .chroma_shift_x = 1,
                             .chroma_shift_y = 1};

/// These parameters are fast enough for the reference backend.
Params quick(int temporal) {
  Params params = make_params(Profile::balanced, {sigma, sigma, sigma}, temporal);
  params.hard.window = params.wiener.window = 9;
  params.hard.temporal_window = params.wiener.temporal_window = 5;
  params.hard.step = params.wiener.step = 6;
  return params;
}

std::vector<Frame> run(const Params& params, const std::vector<Frame>& frames,
                       const Backend& backend = {}) {
  return run_clip(*open(params, frames[0].format, backend), frames);
}

double psnr_of(const Frame& result, int n, double phase = 0) {
  return psnr(plane_of(result, 0).view(), clean_plane(result.format, n, 0, phase).view());
}

double mean_psnr(const std::vector<Frame>& frames) {
  double sum = 0;
  for (std::size_t n = 0; n < frames.size(); ++n) sum += psnr_of(frames[n], static_cast<int>(n));
  return sum / static_cast<double>(frames.size());
}

/// Tests of the backends that users run.
class TemporalSession : public ::testing::TestWithParam<BackendKind> {
 protected:
  void SetUp() override {
    backend_.kind = GetParam();
    try {
      (void)open(quick(1), gray(), backend_);
    } catch (const DeviceUnavailable& error) {
      GTEST_SKIP() << error.what();
    }
  }
  std::unique_ptr<Denoiser> open_session(const Params& params, const FrameFormat& format) const {
    return open(params, format, backend_);
  }
  std::vector<Frame> run(const Params& params, const std::vector<Frame>& frames) const {
    return run_clip(*open_session(params, frames[0].format), frames);
  }
  Backend backend_;
};

INSTANTIATE_TEST_SUITE_P(Bm3d, TemporalSession,
                         ::testing::Values(BackendKind::cpu, BackendKind::cuda),
                         [](const auto& info) {
                           return std::string(info.param == BackendKind::cpu ? "cpu" : "cuda");
                         });

TEST_P(TemporalSession, BeatsFrameByFrameAndKeepsQualityAtTheEnds) {
  const std::vector<Frame> noisy = pan(gray(), 9);
  const std::vector<Frame> alone = run(quick(0), noisy);
  double before = mean_psnr(alone);
  for (const int radius : {1, 2, 4}) {
    const std::vector<Frame> result = run(quick(radius), noisy);
    ASSERT_EQ(result.size(), 9u);
    const double mean = mean_psnr(result);
    EXPECT_GT(mean, before) << radius;
    before = mean;
    // At the ends of the clip half of the neighbouring frames are missing, and in a pan a part of
    // the content as well. The session searches the first frames further ahead instead, which lifts
    // the mean above the quality of the last frames.
    EXPECT_GT(psnr_of(result.front(), 0), mean - 1.5) << radius;
    EXPECT_GT(psnr_of(result.back(), 8), mean - 1.7) << radius;
  }
  EXPECT_GT(before, mean_psnr(alone) + 1);
}

// Rounding flips some decisions of BM3D; the difference between the backends is far below the
// noise.
TEST_P(TemporalSession, AgreesWithTheReference) {
  FrameFormat rgb = gray(), yuv444 = gray();
  rgb.layout = Layout::rgb;
  yuv444.layout = Layout::yuv;
  Params chroma_alone = quick(1);
  chroma_alone.noise.plane(0).sigma = 0;
  for (const auto& [params, format] : {std::pair{quick(1), gray()},
                                       {quick(1), yuv420},
                                       {quick(1), rgb},
                                       {quick(1), yuv444},
                                       {chroma_alone, yuv420},
                                       {chroma_alone, yuv444}}) {
    const std::vector<Frame> noisy = pan(format, 4);
    const auto result = run(params, noisy);
    const auto reference = bm3d::run(params, noisy, {.kind = BackendKind::reference});
    for (std::size_t n = 0; n < noisy.size(); ++n)
      for (int i = 0; i < format.planes(); ++i)
        EXPECT_GT(psnr(plane_of(result[n], i).view(), plane_of(reference[n], i).view()), 42)
            << "frame " << n << ", plane " << i << " of " << describe(format);
  }
}

// The motion of a tile is that of the middle of many reference patches. It displaces the first of
// these patches, especially those of chroma, out of the picture.
TEST_P(TemporalSession, AgreesWithTheReferenceWhereContentEnters) {
  constexpr FrameFormat format{
      .width = 160, .height = 160, .layout = Layout::yuv, .chroma_shift_x = 1, .chroma_shift_y = 1};
  const Params params = make_params(Profile::fast, {sigma, sigma, sigma}, 1);
  for (const int down : {22, -22}) {
    std::vector<Frame> noisy;
    for (int n = 0; n < 3; ++n) {
      noisy.push_back(make_frame(format));
      for (int i = 0; i < format.planes(); ++i) {
        const int rows = format.plane_height(i), moved = (44 - down * (n - 1)) >> (i > 0 ? 1 : 0);
        const Plane<float> all = texture_picture(format.plane_width(i), rows + 88, i);
        Plane<float> shown(format.plane_width(i), rows);
        for (int y = 0; y < rows; ++y)
          std::copy_n(all.view().row(y + moved), shown.width(), shown.view().row(y));
        store_plane(with_noise(shown.view(), sigma, 10 * n + i + 1).view(), noisy.back(), i);
      }
    }
    const auto result = run(params, noisy);
    const auto reference = bm3d::run(params, noisy, {.kind = BackendKind::reference});
    for (std::size_t n = 0; n < noisy.size(); ++n)
      for (int i = 0; i < format.planes(); ++i)
        EXPECT_GT(psnr(plane_of(result[n], i).view(), plane_of(reference[n], i).view()), 42)
            << "frame " << n << ", plane " << i << ", down by " << down;
  }
}

// With the maximum radius, groups contain patches of 17 frames.
TEST_P(TemporalSession, AgreesWithTheReferenceAtTheMaximumRadius) {
  Params params = quick(max_temporal);
  params.phases = 1;
  params.hard.group = 16;
  const std::vector<Frame> noisy = pan(gray(), max_frames);
  const auto result = run(params, noisy);
  const auto reference = bm3d::run(params, noisy, {.kind = BackendKind::reference});
  ASSERT_EQ(result.size(), noisy.size());
  for (std::size_t n = 0; n < noisy.size(); ++n)
    EXPECT_GT(psnr(plane_of(result[n], 0).view(), plane_of(reference[n], 0).view()), 42) << n;
  const auto fewer = run(quick(2), noisy);
  EXPECT_GT(psnr_of(run(quick(max_temporal), noisy)[8], 8), psnr_of(fewer[8], 8));
}

TEST_P(TemporalSession, FiltersEveryLayoutDepthAndSize) {
  FrameFormat rgb = gray(), yuv444 = gray(), deep = yuv420, tiny = yuv420;
  rgb.layout = Layout::rgb;
  yuv444.layout = Layout::yuv;
  deep.sample = SampleType::u16;
  deep.bits = 10;
  tiny.width = 17;  // chroma of 9 by 5: below a patch
  tiny.height = 9;
  for (const FrameFormat& format : {rgb, yuv444, deep, tiny, gray(SampleType::f32, 32)}) {
    const std::vector<Frame> noisy = pan(format, 4);
    const std::vector<Frame> result = run(quick(2), noisy);
    ASSERT_EQ(result.size(), 4u);
    for (int n = 0; n < 4; ++n)
      EXPECT_GT(psnr_of(result[n], n), psnr_of(noisy[n], n) + (format.width < 20 ? 1 : 4)) << n;
  }
}

TEST_P(TemporalSession, PlanesWithoutNoisePassThrough) {
  Params params = quick(1);
  params.noise = std::array<float, 3>{sigma, 0, sigma};
  const std::vector<Frame> noisy = pan(yuv420, 4), result = run(params, noisy);
  for (int n = 0; n < 4; ++n) {
    EXPECT_TRUE(same_plane(noisy[n], result[n], 1));
    EXPECT_FALSE(same_plane(noisy[n], result[n], 0));
  }
}

TEST(Temporal, ThreadCountDoesNotChangeResult) {
  const std::vector<Frame> noisy = pan(yuv420, 5);
  const std::vector<Frame> expected = run(quick(2), noisy, {.threads = 1});
  for (const int threads : {2, 5}) {
    const std::vector<Frame> result = run(quick(2), noisy, {.threads = threads});
    for (std::size_t n = 0; n < noisy.size(); ++n)
      EXPECT_TRUE(same_samples(expected[n], result[n])) << n;
  }
}

// The session must not keep any state of the previous clip.
TEST_P(TemporalSession, DrainedSessionAcceptsAnotherClip) {
  const std::vector<Frame> first = pan(gray(), 4), second = pan(gray(), 5, 2.0);
  const auto session = open_session(quick(1), gray());
  EXPECT_EQ(run_clip(*session, first).size(), 4u);
  const std::vector<Frame> again = run_clip(*session, second), fresh = run(quick(1), second);
  ASSERT_EQ(again.size(), 5u);
  for (std::size_t n = 0; n < 5; ++n) EXPECT_TRUE(same_samples(again[n], fresh[n])) << n;
  EXPECT_FALSE(session->drain());
}

// Several GPUs that share a clip, and resumed jobs, rely on this property.
TEST_P(TemporalSession, SegmentsThatOverlapByTheMarginGiveEqualBytes) {
  const std::vector<Frame> noisy = pan(gray(), 14);
  const Params params = quick(1);
  const std::vector<Frame> whole = run(params, noisy);
  const auto [before, after] = margin(params);
  EXPECT_EQ(before, 5);
  EXPECT_EQ(after, 4);
  for (const auto& [from, to] : {std::pair{0, 5}, {5, 9}, {9, 14}}) {
    const int begin = std::max(0, from - before), end = std::min(14, to + after);
    const std::vector<Frame> part = run(params, {noisy.begin() + begin, noisy.begin() + end});
    for (int n = from; n < to; ++n)
      EXPECT_TRUE(same_samples(part[n - begin], whole[n])) << "frame " << n;
  }
}

TEST_P(TemporalSession, ResultsHaveTheStatedLatencyAndTheirTimestamps) {
  const std::vector<std::int64_t> times{0, 7, 8, 100, 250, 251, 252, 4000, 4001, 9000, 9100};
  std::vector<Frame> noisy = pan(gray(), static_cast<int>(times.size()));
  for (std::size_t n = 0; n < times.size(); ++n) {
    noisy[n].pts = times[n];
    noisy[n].duration = static_cast<std::int64_t>(n) + 1;
    noisy[n].time_base = {1, 90000};
  }
  const auto session = open_session(quick(2), gray());
  const auto delay = static_cast<std::size_t>(session->latency());
  EXPECT_GE(session->latency(), margin(quick(2)).after);
  std::vector<Frame> out;
  for (std::size_t n = 0; n < noisy.size(); ++n) {
    if (auto ready = session->push(noisy[n])) out.push_back(*ready);
    EXPECT_EQ(out.size(), n + 1 > delay ? n + 1 - delay : 0);
  }
  while (auto ready = session->drain()) out.push_back(*ready);
  ASSERT_EQ(out.size(), times.size());
  for (std::size_t n = 0; n < times.size(); ++n) {
    EXPECT_EQ(out[n].pts, times[n]);
    EXPECT_EQ(out[n].duration, static_cast<std::int64_t>(n) + 1);
    EXPECT_EQ(out[n].time_base, (Rational{1, 90000}));
  }
}

TEST_P(TemporalSession, ScenesAreFilteredIndependently) {
  const std::vector<Frame> first = pan(gray(), 4), second = pan(gray(), 5, 2.0);
  std::vector<Frame> both = first;
  for (Frame frame : second) {
    // The picture is turned upside down to form another scene.
    Frame turned = make_frame(gray());
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        turned.planes[0](x, y) = frame.planes[0](y % width, height - 1 - x % height);
    both.push_back(turned);
  }
  const std::vector<Frame> whole = run(quick(2), both);
  const std::vector<Frame> head = run(quick(2), first);
  const std::vector<Frame> tail = run(quick(2), {both.begin() + 4, both.end()});
  for (int n = 0; n < 4; ++n) EXPECT_TRUE(same_samples(whole[n], head[n])) << n;
  for (int n = 0; n < 5; ++n) EXPECT_TRUE(same_samples(whole[4 + n], tail[n])) << n;
  Params off = quick(2);
  off.scene_cut = 0;
  EXPECT_FALSE(same_samples(run(off, both)[3], head[3]));
}

// The frames around a flash or a black frame must still use each other as neighbours.
TEST_P(TemporalSession, FlashesAndBlackFramesCostLittleQuality) {
  const Plane<float> clean = clean_plane(gray(), 0, 0);
  std::vector<Frame> noisy;
  for (unsigned n = 0; n < 9; ++n) {
    noisy.push_back(make_frame(gray()));
    store_plane(with_noise(clean.view(), sigma, n + 1).view(), noisy.back(), 0);
  }
  const std::vector<Frame> expected = run(quick(2), noisy);
  const std::vector<Frame> ends = run(quick(2), {noisy.begin(), noisy.begin() + 4});
  for (const std::byte level : {std::byte{0}, std::byte{255}}) {
    std::vector<Frame> flashed = noisy;
    flashed[4] = make_frame(gray(), 0, std::to_integer<int>(level));
    const std::vector<Frame> result = run(quick(2), flashed);
    for (const int n : {2, 3, 5, 6})
      EXPECT_GT(psnr_of(result[n], 0), psnr_of(expected[n], 0) - 0.9);
    EXPECT_GT(psnr_of(result[3], 0), psnr_of(ends[3], 0));  // the session searches beyond the flash
    for (int i = 0; i < width * height; ++i)
      ASSERT_EQ(result[4].planes[0](i % width, i / width), level);
  }
}

TEST_P(TemporalSession, RepeatedFramesAreFilteredOnce) {
  const std::vector<Frame> single = pan(gray(), 6);
  const std::vector<Frame> expected = run(quick(1), single);
  std::vector<Frame> doubled;
  for (const Frame& frame : single)
    for (int copy = 0; copy < 2; ++copy) {
      doubled.push_back(frame);
      doubled.back().pts = static_cast<std::int64_t>(doubled.size());
    }
  const std::vector<Frame> result = run(quick(1), doubled);
  ASSERT_EQ(result.size(), 12u);
  for (int n = 0; n < 12; ++n) {
    EXPECT_TRUE(same_samples(result[n], expected[n / 2])) << n;
    EXPECT_EQ(result[n].pts, n + 1);
  }
}

// A frame that an encoder doubled is not exactly equal to the original. A frame with a moving
// object is a different frame.
TEST_P(TemporalSession, FramesWithSharedNoiseAreNotCandidates) {
  const std::vector<Frame> single = pan(gray(), 6);
  const std::vector<Frame> expected = run(quick(1), single);
  std::vector<Frame> nearly, partly;
  for (const Frame& frame : single) {
    Frame near = make_frame(gray()), part = make_frame(gray());
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const int v = std::to_integer<int>(frame.planes[0](x, y));
        near.planes[0](x, y) = static_cast<std::byte>((x * y) % 5 == 0 ? std::min(v + 1, 255) : v);
        part.planes[0](x, y) = static_cast<std::byte>(x < 12 && y < 12 ? 255 - v : v);
      }
    nearly.insert(nearly.end(), {frame, near});
    partly.insert(partly.end(), {frame, part});
  }
  const std::vector<Frame> a = run(quick(1), nearly);
  for (int n = 0; n < 12; ++n) EXPECT_TRUE(same_samples(a[n], expected[n / 2])) << n;
  const std::vector<Frame> b = run(quick(2), partly);
  const std::vector<Frame> alone = run(quick(0), partly);
  double gain = 0;
  for (int n = 0; n < 12; n += 2) gain += psnr_of(b[n], n / 2) - psnr_of(alone[n], n / 2);
  EXPECT_GT(gain / 6, 0.2);
}

TEST_P(TemporalSession, LongStillKeepsAllFrames) {
  const Frame still = noisy_frame(gray(), 0);
  std::vector<Frame> frames(3 * max_repeats + 5, still);
  frames.push_back(noisy_frame(gray(), 1));
  const std::vector<Frame> result = run(quick(1), frames);
  ASSERT_EQ(result.size(), frames.size());
  // Repetitions of the same noise add no information.
  EXPECT_LT(psnr_of(result[40], 0), psnr_of(run(quick(0), {still})[0], 0) + 0.8);
}

// If the latency did not recover, the session would hold back as many results as there were
// repetitions.
TEST_P(TemporalSession, LatencyRecoversAfterAStill) {
  const std::vector<Frame> moving = pan(gray(), 12);
  const auto session = open_session(quick(1), gray());
  int inside = 0;
  const auto push = [&](const Frame& frame) {
    ++inside;
    for (auto ready = session->push(frame); ready; ready = session->next()) --inside;
  };
  for (int n = 0; n < 90; ++n) push(moving[0]);
  EXPECT_GT(inside, session->latency());
  for (const Frame& frame : moving) push(frame);
  EXPECT_EQ(inside, session->latency());
  while (session->drain()) --inside;
  EXPECT_EQ(inside, 0);
}

TEST(Temporal, RejectsInvalidParameters) {
  for (const int radius : {-1, max_temporal + 1})
    EXPECT_THROW((void)open(quick(radius), gray(), {}), InvalidArgument);
  Params params = quick(1);
  params.scene_cut = 1.5f;
  EXPECT_THROW(validate(params), InvalidArgument);
  params = quick(1);
  params.wiener.temporal_window = 4;
  EXPECT_THROW(validate(params), InvalidArgument);
  params = quick(1);
  params.hard.motion_bias = -1;
  EXPECT_THROW(validate(params), InvalidArgument);
}

}  // namespace
}  // namespace lull::bm3d
