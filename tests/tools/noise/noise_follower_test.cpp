// Tests streams whose noise changes: the time and the level of each detected change.

#include "tools/search/noise_follower.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "support/pictures.h"
#include "tools/search/noise_scenes.h"
#include "tools/search/noise_search.h"
#include "tools/support/clips.h"

namespace lull::tools {
namespace {

constexpr FrameFormat grey{.width = 176, .height = 144};

/// A scene of a test stream: a picture that moves slowly, or one that is bit for bit still.
struct Shot {
  int frames;
  double sigma;
  bool negative = false;  // another picture
  bool still = false;
  double gain = 1;  // gain of the picture at the end of the scene
};

class Stream final : public FrameSource {
 public:
  explicit Stream(const std::vector<Shot>& shots) {
    for (const Shot& shot : shots)
      for (int i = 0; i < shot.frames; ++i) add(shot, i);
  }
  const FrameFormat& format() const noexcept override { return grey; }
  std::optional<Frame> read() override {
    if (given_ == frames_.size()) return std::nullopt;
    return frames_[given_++];
  }
  std::size_t given() const { return given_; }
  std::vector<Frame> first(std::size_t count) const {
    return {frames_.begin(), frames_.begin() + static_cast<std::ptrdiff_t>(count)};
  }

 private:
  void add(const Shot& shot, int i) {
    const auto number = static_cast<std::int64_t>(frames_.size());
    const bool repeats = shot.still && i > 0;
    Frame frame;
    if (repeats) {
      frame = frames_.back();
    } else {
      const Frame clean = clean_picture(grey, 0.02 * static_cast<double>(number));
      const auto plane = clean.plane<std::uint8_t>(0);
      const double gain = shot.gain * (shot.gain == 1 ? 1.0 : (i + 1.0) / shot.frames);
      for (int y = 0; y < plane.height; ++y)
        for (int x = 0; x < plane.width; ++x) {
          const int v = shot.negative ? 255 - plane(x, y) : plane(x, y);
          plane(x, y) = static_cast<std::uint8_t>(gain * v + 0.5);
        }
      frame = noisy_picture(clean, shot.sigma * gain, 300 + static_cast<unsigned>(number));
    }
    frame.pts = number;
    frame.time_base = {1, 25};
    frames_.push_back(std::move(frame));
  }

  std::vector<Frame> frames_;
  std::size_t given_ = 0;
};

struct Change {
  std::int64_t frame;
  float level;
  bool is_predicted = false;
};

/// Returns the scene noise that a search at some positions reports.
SceneNoise scene_of(const Shot& shot, double from_s) {
  const std::vector<Excerpt> looks = split_excerpts(Stream({shot}).first(12));
  return scene_noise(from_s, looks, estimate_noise(looks));
}

/// Returns the noise changes that are detected in a stream. The start of the stream is described by
/// the scenes `known`, or by its first frames. The frames must pass unchanged.
std::vector<Change> changes_in(const std::vector<Shot>& shots, std::vector<SceneNoise> known = {}) {
  Stream stream(shots), same(shots);
  const DenoiseOptions options;
  std::vector<Change> changes;
  std::int64_t out = 0;
  const auto found = [&](const SceneNoise& scene, bool is_predicted) {
    changes.push_back({std::lround(25 * scene.from_s), scene.estimate.level[0], is_predicted});
    EXPECT_EQ(changes.back().frame, out) << "told before its first frame is given";
  };
  KnownFrom from = KnownFrom::positions;
  if (known.empty()) {
    const std::vector<Frame> first = first_scene_of(stream.first(
        std::min<std::size_t>(frames_ahead, static_cast<std::size_t>(shots.front().frames))));
    known = noise_of_first_frames(options, first, {}).scenes;
    from = KnownFrom::first_frames;
  }
  NoiseFollower follower(stream, options, known, from, found);
  while (const auto frame = follower.read()) {
    const auto expected = same.read();
    EXPECT_EQ(frame->pts, expected->pts);
    EXPECT_TRUE(std::equal(frame->plane<std::uint8_t>(0).row(7),
                           frame->plane<std::uint8_t>(0).row(7) + grey.width,
                           expected->plane<std::uint8_t>(0).row(7)));
    ++out;
    EXPECT_LE(stream.given(), static_cast<std::size_t>(out) + frames_ahead);
  }
  EXPECT_FALSE(same.read());
  return changes;
}

void expect_changes(const std::vector<Change>& found, const std::vector<Change>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].frame, expected[i].frame);
    EXPECT_NEAR(found[i].level, expected[i].level, 0.15f * expected[i].level);
  }
}

TEST(NoiseFollower, UsesTheNoiseOfEachSceneFromItsFirstFrame) {
  expect_changes(changes_in({{20, 4}, {20, 12, true}, {30, 6}, {20, 9, true}}),
                 {{20, 12}, {40, 6}, {70, 9}});
}

TEST(NoiseFollower, DetectsAChangeWithoutACut) {
  expect_changes(changes_in({{31, 5}, {30, 14}, {30, 5}}), {{31, 14}, {61, 5}});
}

TEST(NoiseFollower, IgnoresCutsWithoutANoiseChange) {
  expect_changes(changes_in({{20, 8}, {20, 8, true}, {2, 8}, {20, 8, true}}), {});
}

// Filters remove the sum of the noise and the codec error, which hardly changes.
TEST(NoiseFollower, IgnoresChangesOfNoiseBelowTheCodecError) {
  SceneNoise known = scene_of({12, 2}, 0);
  expect_changes(changes_in({{20, 2}, {20, 4, true}}, {known}), {{20, 4}});
  known.estimate.codec_error = {8, 8, 8};
  expect_changes(changes_in({{20, 2}, {20, 4, true}}, {known}), {});
}

TEST(NoiseScenes, ExcerptsWithNoiseBelowTheCodecErrorAreOneScene) {
  const std::vector<Frame> frames = Stream({{24, 2}, {24, 5, true}}).first(48);
  const FramesFrom frames_from = [&](double time_s, const FrameConsumer& take) {
    for (const Frame& frame : frames)
      if (time_of(frame) >= time_s && !take(frame)) return;
  };
  std::vector<TimedExcerpt> excerpts;
  for (const double time_s : {0.0, 0.4, 1.2, 1.6})
    excerpts.push_back(read_excerpt(frames_from, time_s, 3));
  const NoiseEstimate all = estimate_noise(excerpts_of(excerpts));
  EXPECT_EQ(scenes_of(excerpts, all, 0, frames_from).size(), 2u);
  EXPECT_EQ(scenes_of(excerpts, all, 10, frames_from).size(), 1u);
}

// Means of 2x2 samples contain half of the coding error.
TEST(NoiseScenes, NoiseAtHalfSizeIncludesTheCodingError) {
  NoiseEstimate full, half;
  full.coarse = 1.6f;
  full.codec_error = {8, 8, 8};
  half.coarse = 1.5f;
  half.level = {3, 3, 3};
  half.noise = NoiseModel(half.level);
  SceneNoise scene{.estimate = full, .half = half};
  add_codec_error_to_half(scene);
  ASSERT_TRUE(scene.half);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(scene.half->noise.sigma(i), 5, 0.02);
  // The white error outweighs the coarse noise.
  scene = SceneNoise{.estimate = full, .half = half};
  scene.estimate.coarse = 0.75f;
  scene.half->coarse = 0.7f;
  add_codec_error_to_half(scene);
  EXPECT_FALSE(scene.half);
}

TEST(NoiseFollower, IgnoresScenesOfOneFrame) {
  expect_changes(changes_in({{20, 8}, {1, 20, true}, {20, 8}}), {});
}

// The scene is shorter than the frames that are read ahead. Frames of the next scene must not
// affect the estimate.
TEST(NoiseFollower, DoesNotLookBeyondTheNextCut) {
  expect_changes(changes_in({{20, 4}, {5, 15, true}, {20, 4}}), {{20, 15}, {25, 4}});
}

TEST(NoiseFollower, ReportsNoNoiseInACleanStillScene) {
  expect_changes(changes_in({{20, 8}, {40, 0, true, true}, {30, 8}}), {{20, 0}, {60, 8}});
}

// A still title, followed by a moving scene.
TEST(NoiseFollower, MeasuresAStillThatBeginsToMove) {
  const std::vector<Change> found = changes_in({{30, 10, false, true}, {60, 10}});
  ASSERT_FALSE(found.empty());
  EXPECT_LE(found.back().frame, 45);
  EXPECT_NEAR(found.back().level, 10, 1.5);
}

TEST(NoiseFollower, FollowsAFadeFromBlack) {
  const std::vector<Change> found =
      changes_in({{20, 0, false, true, 0}, {24, 10, false, false, 0.999}, {40, 10}});
  ASSERT_FALSE(found.empty());
  EXPECT_GE(found.front().frame, 20);
  EXPECT_LE(found.size(), 4u);
  EXPECT_NEAR(found.back().level, 10, 3);
}

TEST(NoiseFollower, DetectsScenesThatTheSearchMissed) {
  const std::vector<Shot> shots{{10, 14, true}, {20, 5}, {9, 14, true}, {20, 5}};
  const SceneNoise known = scene_of({12, 5}, 0);
  const std::vector<Change> found = changes_in(shots, {known});
  expect_changes(found, {{0, 14}, {10, 5}, {30, 14}, {39, 5}});
  // A scene that resembles a previous scene gets the estimate of that scene.
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[1].level, known.estimate.level[0]);
  EXPECT_EQ(found[2].level, found[0].level);
}

TEST(NoiseFollower, UsesAPredictedSceneAtItsTime) {
  const SceneNoise first = scene_of({12, 5}, 0), next = scene_of({12, 12}, 0.8);
  const std::vector<Change> found = changes_in({{20, 5}, {20, 12}}, {first, next});
  expect_changes(found, {{20, 12}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].is_predicted);
  EXPECT_EQ(found[0].level, next.estimate.level[0]);
}

// If a search saw only a part of a scene, it knows the start of the scene approximately.
TEST(NoiseFollower, UsesAWronglyTimedSceneAtItsCut) {
  const SceneNoise first = scene_of({12, 5}, 0), next = scene_of({12, 12}, 0.4);
  const std::vector<Change> found = changes_in({{20, 5}, {20, 12, true}}, {first, next});
  expect_changes(found, {{20, 12}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_FALSE(found[0].is_predicted);
}

// If frames cannot be examined, scenes begin exactly where they are predicted. Scene cuts that a
// search finds may be one frame off.
TEST(NoiseFollower, DoesNotRepeatALatePredictedScene) {
  const Shot weak{40, 4}, strong{40, 12, true};
  expect_changes(changes_in({weak, strong, weak},
                            {scene_of(weak, 0), scene_of(strong, 1.6), scene_of(weak, 3.24)}),
                 {{40, 12}, {80, 4}});
}

TEST(NoiseFollower, UsesOnlyPredictedTimesForFramesOnAGpu) {
  class Elsewhere final : public FrameSource {
   public:
    const FrameFormat& format() const noexcept override { return grey; }
    std::optional<Frame> read() override {
      if (given_ == 30) return std::nullopt;
      Frame frame;
      frame.format = grey;
      frame.pts = given_++;
      frame.time_base = {1, 25};
      frame.on_device = std::make_shared<const DevicePicture>();
      return frame;
    }

   private:
    std::int64_t given_ = 0;
  } source;
  std::vector<double> begins;
  NoiseFollower follower(source, {}, {scene_of({12, 5}, 0), scene_of({12, 12}, 0.8)},
                         KnownFrom::positions, [&](const SceneNoise& scene, bool is_predicted) {
                           EXPECT_TRUE(is_predicted);
                           begins.push_back(scene.from_s);
                         });
  while (follower.read()) continue;
  EXPECT_EQ(begins, std::vector<double>{0.8});
}

// Frames outside the selection are delivered but not examined.
TEST(NoiseFollower, IgnoresContextFrames) {
  class Part final : public FrameSource {
   public:
    const FrameFormat& format() const noexcept override { return grey; }
    std::optional<Frame> read() override {
      std::optional<Frame> frame = all_.read();
      if (frame) frame->context_only = frame->pts < 20 || frame->pts >= 40;
      return frame;
    }

   private:
    Stream all_{{{15, 5}, {5, 16, true}, {20, 9}, {12, 16, true}}};
  } source;
  std::vector<long> begins;
  NoiseFollower follower(
      source, {}, {scene_of({12, 5}, 0)}, KnownFrom::positions,
      [&](const SceneNoise& scene, bool) { begins.push_back(std::lround(25 * scene.from_s)); });
  int count = 0;
  while (follower.read()) ++count;
  EXPECT_EQ(count, 52);
  EXPECT_EQ(begins, std::vector<long>{20});
}

TEST(NoiseFollower, DistinguishesASyntheticPanFromAFilmedOne) {
  constexpr FrameFormat wide{.width = 200, .height = 160};
  const Frame texture = noisy_picture(clean_picture(wide), 20, 5);
  const auto cut_out = [&](int x, int y) {
    Frame frame = clean_picture(grey);
    for (int row = 0; row < grey.height; ++row)
      std::copy_n(texture.plane<std::uint8_t>(0).row(row + y) + x, grey.width,
                  frame.plane<std::uint8_t>(0).row(row));
    return frame;
  };
  const Frame frame = cut_out(4, 6), moved = cut_out(7, 4);
  EXPECT_TRUE(is_moved_copy(frame, moved));
  EXPECT_FALSE(is_moved_copy(frame, frame));
  EXPECT_FALSE(is_moved_copy(noisy_picture(frame, 1, 1), noisy_picture(moved, 1, 2)));
}

TEST(NoiseFollower, UsesFirstFramesUpToACut) {
  const Stream stream({{4, 4}, {10, 12, true}});
  EXPECT_EQ(first_scene_of(stream.first(12)).size(), 4u);
  EXPECT_EQ(first_scene_of(stream.first(3)).size(), 3u);
  EXPECT_TRUE(first_scene_of({}).empty());
}

}  // namespace
}  // namespace lull::tools
