#include "pipeline/scene_denoiser.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "pipeline/fakes.h"

namespace lull::pipeline {
namespace {

/// Records which frames the session of each scene received; a session has a latency of `delay`
/// frames.
struct Scenes {
  std::unique_ptr<Denoiser> open(std::size_t scene) {
    EXPECT_EQ(++open_now, 1) << "two sessions may be too much for a GPU's memory";
    return std::make_unique<Seeing>(*this, scene);
  }
  SceneOpener opener() {
    return [this](std::size_t scene) { return open(scene); };
  }

  struct Seeing final : Denoiser {
    Seeing(Scenes& all, std::size_t which) : scenes(all), scene(which), inner(all.delay) {}
    ~Seeing() override { --scenes.open_now; }
    int latency() const noexcept override { return inner.latency(); }
    std::optional<Frame> push(Frame frame) override {
      scenes.seen.emplace_back(scene, frame.side_data->number);
      return inner.push(std::move(frame));
    }
    std::optional<Frame> drain() override { return inner.drain(); }
    Scenes& scenes;
    std::size_t scene;
    FakeDenoiser inner;
  };

  int delay = 0, open_now = 0;
  std::vector<std::pair<std::size_t, std::int64_t>> seen;
};

Frame frame_at(std::int64_t number) {
  Frame frame = make_frame(number);
  frame.pts = number;
  frame.time_base = {1, 10};
  return frame;
}

/// Returns all results for frames first .. last, in order.
std::vector<std::int64_t> results_of(Denoiser& denoiser, std::int64_t first, std::int64_t last) {
  std::vector<std::int64_t> out;
  for (std::int64_t i = first; i <= last; ++i)
    for (auto ready = denoiser.push(frame_at(i)); ready; ready = denoiser.next())
      out.push_back(ready->side_data->number);
  while (auto rest = denoiser.drain()) out.push_back(rest->side_data->number);
  return out;
}

TEST(ByScenes, PassesEachSceneToItsSessionInOrder) {
  for (const int delay : {0, 3}) {
    Scenes scenes{.delay = delay};
    const auto denoiser = by_scenes(scenes.open(0), {0.4, 0.7}, scenes.opener());
    EXPECT_EQ(results_of(*denoiser, 0, 9),
              (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
    std::vector<std::pair<std::size_t, std::int64_t>> expected;
    for (std::int64_t i = 0; i < 10; ++i) expected.emplace_back(i < 4 ? 0 : i < 7 ? 1 : 2, i);
    EXPECT_EQ(scenes.seen, expected);
  }
}

TEST(ByScenes, BeginsInTheSceneOfTheFirstFrame) {
  Scenes scenes;
  const auto denoiser = by_scenes(scenes.open(0), {0.4, 0.7}, scenes.opener());
  EXPECT_EQ(results_of(*denoiser, 8, 9), (std::vector<std::int64_t>{8, 9}));
  EXPECT_EQ(scenes.seen.front().first, 2u);
  // After drain() another clip starts anew.
  EXPECT_EQ(results_of(*denoiser, 0, 1), (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(scenes.seen.back().first, 0u);
}

TEST(ByScenes, RepeatedFrameStaysInTheSceneOfItsOriginal) {
  Scenes scenes;
  const auto denoiser = by_scenes(scenes.open(0), {0.4}, scenes.opener());
  (void)denoiser->push(frame_at(3));
  Frame repeated = frame_at(4);
  repeated.repeat_state = RepeatState::repeats;
  (void)denoiser->push(std::move(repeated));
  (void)denoiser->push(frame_at(5));
  EXPECT_EQ(scenes.seen,
            (std::vector<std::pair<std::size_t, std::int64_t>>{{0, 3}, {0, 4}, {1, 5}}));
}

// The scenes of a stream are detected while it runs.
TEST(ByScenes, AcceptsScenesThatBecomeKnownWhileRunning) {
  Scenes scenes{.delay = 2};
  std::vector<double> starts;
  const auto denoiser = by_scenes(
      scenes.open(0), [&](const Frame& frame) { return scene_at(frame, starts); }, scenes.opener());
  EXPECT_EQ(results_of(*denoiser, 0, 2), (std::vector<std::int64_t>{0, 1, 2}));
  starts = {0.4};
  EXPECT_EQ(results_of(*denoiser, 3, 5), (std::vector<std::int64_t>{3, 4, 5}));
  EXPECT_EQ(scenes.seen[3].first, 0u);
  EXPECT_EQ(scenes.seen[4].first, 1u);
}

TEST(ByScenes, SingleSceneNeedsNoWrapper) {
  Scenes scenes;
  auto session = scenes.open(0);
  const Denoiser* const same = session.get();
  EXPECT_EQ(by_scenes(std::move(session), std::vector<double>{}, scenes.opener()).get(), same);
}

}  // namespace
}  // namespace lull::pipeline
