// Tests a clip that several sessions filter over time: the result must have the same bytes as with
// one session, for all repeated frames, scene cuts and still sections, and when a session fails.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "bm3d/bm3d.h"
#include "core/error.h"
#include "pipeline/part_scheduler.h"
#include "support/pictures.h"
#include "support/sessions.h"

namespace lull::bm3d {
namespace {

using namespace lull::test_support;

constexpr float sigma = 20;
constexpr FrameFormat gray{.width = 40, .height = 32};
constexpr FrameFormat yuv420{
    .width = 48, .height = 32, .layout = Layout::yuv, .chroma_shift_x = 1, .chroma_shift_y = 1};

class Clip {
 public:
  explicit Clip(const FrameFormat& format = gray) : format_(format) {}

  /// Returns a pan over another scene.
  Clip& scene(int count) {
    ++scene_, moment_ = 0;
    return more(count);
  }
  /// Adds further frames of the same scene.
  Clip& more(int count) {
    for (int n = 0; n < count; ++n) add(picture(3.0 * scene_ + 0.04 * moment_++));
    return *this;
  }
  /// Adds a frame of another scene within this scene.
  Clip& flash() {
    add(picture(3.0 * scene_ + 1.5));
    return more(1);
  }
  Clip& identical(int count) {
    for (int n = 0; n < count; ++n) add(copy_of_last());
    return *this;
  }
  /// Adds repeated frames with the small changes that an encoder makes.
  Clip& near(int count) {
    for (int n = 0; n < count; ++n) {
      Frame frame = copy_of_last();
      change(frame, format_.height, [&](int x, int y, int v) {
        return (x + 3 * y + n) % 7 == 0 ? std::min(v + 1, 255) : v;
      });
      add(std::move(frame));
    }
    return *this;
  }
  /// Adds frames with the noise of the previous frame, except for some rows.
  Clip& partly(int count) {
    for (int n = 0; n < count; ++n) {
      Frame frame = copy_of_last();
      change(frame, format_.height / 3, [](int, int, int v) { return 255 - v; });
      add(std::move(frame));
    }
    return *this;
  }
  const std::vector<Frame>& frames() const { return frames_; }
  const FrameFormat& format() const { return format_; }

 private:
  Frame picture(double phase) const {
    Frame frame = make_frame(format_);
    for (int i = 0; i < format_.planes(); ++i) {
      const Plane<float> clean =
          texture_picture(format_.plane_width(i), format_.plane_height(i), phase + i);
      const int seed = 10 * static_cast<int>(frames_.size()) + i;
      store_plane(with_noise(clean.view(), sigma, seed).view(), frame, i);
    }
    return frame;
  }
  void add(Frame frame) {
    frame.pts = 3 * static_cast<std::int64_t>(frames_.size());
    frames_.push_back(std::move(frame));
  }
  Frame copy_of_last() const {
    Frame frame = make_frame(format_);
    for (int i = 0; i < format_.planes(); ++i)
      for (int y = 0; y < format_.plane_height(i); ++y)
        std::copy_n(frames_.back().planes[i].row(y), format_.plane_width(i),
                    frame.planes[i].row(y));
    return frame;
  }
  template <class Change>
  static void change(Frame& frame, int rows, Change&& to) {
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < frame.format.width; ++x) {
        std::byte& v = frame.planes[0](x, y);
        v = static_cast<std::byte>(to(x, y, std::to_integer<int>(v)));
      }
  }

  FrameFormat format_;
  int scene_ = 0, moment_ = 0;
  std::vector<Frame> frames_;
};

Params quick(int temporal, int phases = 1) {
  Params params = make_params(Profile::balanced, {sigma, sigma, sigma}, temporal);
  params.phases = phases;
  params.hard.window = params.wiener.window = 9;
  params.hard.temporal_window = params.wiener.temporal_window = 5;
  params.hard.step = params.wiener.step = 6;
  return params;
}

/// Throws DeviceFailure at one of its pushes.
class FailingDenoiser final : public Denoiser {
 public:
  FailingDenoiser(std::unique_ptr<Denoiser> inner, int fails_at)
      : inner_(std::move(inner)), left_(fails_at) {}
  int latency() const noexcept override { return inner_->latency(); }
  std::optional<Frame> push(Frame noisy) override {
    if (left_-- == 0) throw DeviceFailure("a device failed");
    return inner_->push(std::move(noisy));
  }
  std::optional<Frame> next() override { return inner_->next(); }
  std::optional<Frame> drain() override { return inner_->drain(); }

 private:
  std::unique_ptr<Denoiser> inner_;
  int left_;
};

struct SessionSetup {
  int sessions = 2;
  int part = 5;
  int fails_at = -1;  // the push at which the first session fails
};

std::unique_ptr<Denoiser> share(const Params& params, const FrameFormat& format,
                                const SessionSetup& team) {
  std::vector<std::unique_ptr<Denoiser>> sessions;
  for (int i = 0; i < team.sessions; ++i)
    sessions.push_back(open(params, format, {.kind = BackendKind::cpu, .threads = 1 + i}));
  sessions[0] = std::make_unique<FailingDenoiser>(std::move(sessions[0]), team.fails_at);
  return pipeline::shard_parts(std::move(sessions),
                               {.margin = margin(params),
                                .frames = team.part,
                                .repeats = open_repeat_finder(params, format)});
}

void expect_equal(const std::vector<Frame>& result, const std::vector<Frame>& whole) {
  ASSERT_EQ(result.size(), whole.size());
  for (std::size_t n = 0; n < whole.size(); ++n) {
    EXPECT_EQ(result[n].pts, whole[n].pts);
    ASSERT_TRUE(same_samples(result[n], whole[n])) << "frame " << n << " of " << whole.size();
  }
}

void expect_shared_equal(const Clip& clip, const Params& params,
                         const std::vector<SessionSetup>& teams = {
                             {1, 4}, {2, 1}, {2, 5}, {3, 16}}) {
  const std::vector<Frame> whole =
      run_clip(*open(params, clip.format(), {.threads = 1}), clip.frames());
  ASSERT_EQ(whole.size(), clip.frames().size());
  for (const SessionSetup& team : teams) {
    SCOPED_TRACE(::testing::Message() << team.sessions << " sessions, parts of " << team.part);
    expect_equal(run_clip(*share(params, clip.format(), team), clip.frames()), whole);
  }
}

TEST(SharedClip, DistinctFramesMatchSingleSession) {
  expect_shared_equal(Clip().scene(30), quick(1));
  expect_shared_equal(Clip().scene(30), quick(2), {{2, 7}});
  expect_shared_equal(Clip(yuv420).scene(22), quick(1, 2), {{2, 6}});
}

TEST(SharedClip, BestProfileMatchesSingleSession) {
  const auto best = [](int temporal) {
    return make_params(Profile::best, {sigma, sigma, sigma}, temporal);
  };
  expect_shared_equal(Clip().scene(19), best(1), {{2, 3}, {3, 8}});
  Clip cut;
  cut.scene(4).partly(2).flash().more(2).identical(3).scene(1).scene(5).near(2);
  expect_shared_equal(cut, best(1), {{2, 4}});
  expect_shared_equal(cut, best(2), {{2, 7}});
}

TEST(SharedClip, ShortClipsMatchSingleSession) {
  for (const int count : {0, 1, 2, 6})
    expect_shared_equal(Clip().scene(count), quick(2), {{2, 12}, {3, 1}});
}

TEST(SharedClip, SceneCutsMatchSingleSession) {
  expect_shared_equal(Clip().scene(7).scene(1).scene(9).scene(2).scene(8), quick(2),
                      {{2, 5}, {3, 1}});
  Params without = quick(1);
  without.scene_cut = 0;
  expect_shared_equal(Clip().scene(9).scene(9), without, {{2, 4}});
}

TEST(SharedClip, FlashesMatchSingleSession) {
  Clip clip;
  clip.scene(3);
  for (int n = 0; n < 12; ++n) clip.flash().more(n % 4);
  expect_shared_equal(clip, quick(2), {{2, 1}, {2, 3}, {3, 7}});
  expect_shared_equal(clip, quick(2, 2), {{2, 5}});
}

TEST(SharedClip, RepeatedFramesMatchSingleSession) {
  Clip exactly, nearly, now_and_then;
  for (int n = 0; n < 14; ++n) {
    exactly.scene(1).identical(1);
    nearly.scene(1).near(1);
    now_and_then.scene(1).identical(n % 3).near(n % 4).partly(n % 5 == 2).identical(n % 2);
  }
  for (const Clip& clip : {exactly, nearly, now_and_then}) expect_shared_equal(clip, quick(1));
}

// The decisions of a session depend on earlier frames. Some of them are missing in a part of the
// clip.
TEST(SharedClip, LongStillsMatchSingleSession) {
  Clip clip;
  clip.scene(3).identical(70).scene(4).near(1).identical(40).near(1).identical(3).near(2);
  clip.identical(33).scene(3);
  expect_shared_equal(clip, quick(1));
  expect_shared_equal(Clip().scene(1).near(1).identical(100).near(1).identical(5), quick(1));
}

TEST(SharedClip, NearlyRepeatedFramesMatchSingleSession) {
  Clip clip;
  clip.scene(2).near(40).scene(2).near(5).identical(31).near(12).partly(9).near(3);
  expect_shared_equal(clip, quick(1));
}

TEST(SharedClip, RandomClipsMatchSingleSession) {
  std::mt19937 rng{3};
  for (int round = 0; round < 24; ++round) {
    Clip clip;
    clip.scene(1);
    while (clip.frames().size() < 60) {
      const int count = 1 + static_cast<int>(rng() % 4);
      switch (rng() % 5) {
        case 0:
          clip.scene(count);
          break;
        case 1:
          clip.identical(rng() % 9 == 0 ? 32 : count);
          break;
        case 2:
          clip.near(count);
          break;
        case 3:
          clip.partly(count);
          break;
        case 4:
          clip.more(count).flash();
          break;
      }
    }
    expect_shared_equal(clip, quick(1 + round % 2), {{2, 1 + static_cast<int>(rng() % 12)}});
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

// Some planes pass through, and in pictures smaller than a patch nothing is filtered.
TEST(SharedClip, UnfilteredPlanesMatchSingleSession) {
  Params luma_alone = quick(1);
  luma_alone.noise = std::array<float, 3>{sigma, 0, 0};
  expect_shared_equal(Clip(yuv420).scene(6).near(2).identical(2).scene(3), luma_alone, {{2, 3}});
  Params nothing = quick(1);
  nothing.noise = std::array<float, 3>{0, 0, 0};
  expect_shared_equal(Clip().scene(4).near(2).identical(2), nothing, {{2, 3}});
  const FrameFormat tiny{.width = 6, .height = 20};
  expect_shared_equal(Clip(tiny).scene(4).near(3).scene(1).near(1).identical(2), quick(1),
                      {{2, 3}});
}

TEST(SharedClip, FailedSessionDoesNotChangeTheResult) {
  Clip clip;
  clip.scene(9).identical(2).near(3).scene(12).near(1).scene(6);
  for (const int at : {0, 3, 8, 20}) expect_shared_equal(clip, quick(1), {{2, 5, at}, {3, 4, at}});
}

TEST(SharedClip, ConsecutiveClipsMatchSeparateSessions) {
  const Clip first = Clip().scene(12).near(2), second = Clip().scene(3).identical(20).scene(8);
  const auto shared = share(quick(1), gray, {2, 4});
  for (const Clip& clip : {first, second, first})
    expect_equal(run_clip(*shared, clip.frames()),
                 run_clip(*open(quick(1), gray, {}), clip.frames()));
}

}  // namespace
}  // namespace lull::bm3d
