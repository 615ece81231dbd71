// Tests the scenes of a grain table: where they begin and end, and what determines them.

#include "noise/grain/collector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "core/frame_pool.h"

namespace lull {
namespace {

constexpr FrameFormat grey{.width = 64, .height = 64};
constexpr std::int64_t second = 10'000'000;

struct Pair {
  Frame noisy, clean;
};

/// Frame `number` at 25 frames per second.
Pair make_pair(FramePool& pool, int number, double brightness, double sigma) {
  Pair pair{pool.acquire(), pool.acquire()};
  for (Frame* frame : {&pair.noisy, &pair.clean}) {
    frame->pts = 3600 + 40 * number;
    frame->duration = 40;
    frame->time_base = {1, 1000};
  }
  std::mt19937 rng{static_cast<unsigned>(number)};
  std::normal_distribution<double> normal{0, 1};
  for (int y = 0; y < grey.height; ++y)
    for (int x = 0; x < grey.width; ++x) {
      const double noisy = std::clamp(brightness + sigma * normal(rng), 0.0, 255.0);
      pair.clean.plane<std::uint8_t>(0)(x, y) = static_cast<std::uint8_t>(brightness);
      pair.noisy.plane<std::uint8_t>(0)(x, y) = static_cast<std::uint8_t>(std::lround(noisy));
    }
  return pair;
}

struct Clip {
  int frames = 50;
  std::function<double(int)> brightness = [](int) { return 100.0; };
  std::function<double(int)> sigma = [](int) { return 5.0; };
};

/// Returns the grain table of a clip. `delay` is the latency of the results in frames.
GrainTable table_of(const Clip& clip, int delay = 0, const GrainSampling& sampling = {},
                    std::vector<KnownNoise> known = {}) {
  FramePool pool(grey);
  GrainCollector collector(grey, sampling);
  std::deque<Pair> inside;
  const auto give = [&](std::size_t keep) {
    for (; inside.size() > keep; inside.pop_front())
      collector.add(inside.front().noisy, inside.front().clean);
  };
  for (int i = 0; i < clip.frames; ++i) {
    Pair pair = make_pair(pool, i, clip.brightness(i), clip.sigma(i));
    if (collector.observe(pair.noisy)) inside.push_back(std::move(pair));
    give(static_cast<std::size_t>(delay));
  }
  give(0);
  return collector.finish(known);
}

double level_of(const GrainEntry& entry) {
  return entry.grain ? std::ldexp(32.0 * entry.grain->points[0].front().scale,
                                  -entry.grain->scaling_shift - entry.grain->grain_scale_shift)
                     : 0;
}

TEST(GrainCollector, SingleSceneIsOneEntryFromZeroToTheEnd) {
  const GrainTable table = table_of({});
  ASSERT_EQ(table.size(), 1u);
  EXPECT_EQ(table[0].start, 0);
  EXPECT_EQ(table[0].end, 2 * second);
  EXPECT_NEAR(level_of(table[0]), 5, 0.5);
}

TEST(GrainCollector, SingleFrameIsEnough) {
  const GrainTable table = table_of({.frames = 1});
  ASSERT_EQ(table.size(), 1u);
  EXPECT_EQ(table[0].end, second / 25);
  EXPECT_NEAR(level_of(table[0]), 5, 0.5);
}

TEST(GrainCollector, CutBeginsAnEntryBetweenItsFrames) {
  const GrainTable table = table_of({.frames = 70,
                                     .brightness = [](int i) { return i < 30 ? 60.0 : 160.0; },
                                     .sigma = [](int i) { return i < 30 ? 3.0 : 8.0; }});
  ASSERT_EQ(table.size(), 2u);
  EXPECT_EQ(table[0].end, table[1].start);
  EXPECT_EQ(table[1].start, (29 * 40 + 20) * 10'000);
  EXPECT_NEAR(level_of(table[0]), 3, 0.4);
  EXPECT_NEAR(level_of(table[1]), 8, 0.8);
}

TEST(GrainCollector, FlashesCreateNoEntriesShorterThanASecond) {
  const GrainTable table = table_of({.frames = 100,
                                     .brightness = [](int i) { return i % 8 < 4 ? 60.0 : 160.0; },
                                     .sigma = [](int i) { return i % 8 < 4 ? 3.0 : 8.0; }});
  EXPECT_LE(table.size(), 5u);
  for (std::size_t i = 0; i + 1 < table.size(); ++i)
    EXPECT_GE(table[i].end - table[i].start, second - second / 25);
}

TEST(GrainCollector, LevelChangeBeginsAnEntryWithoutACut) {
  const GrainTable table =
      table_of({.frames = 80, .sigma = [](int i) { return i < 40 ? 4.0 : 6.0; }});
  ASSERT_EQ(table.size(), 2u);
  EXPECT_NEAR(static_cast<double>(table[1].start), 40 * 0.04 * second, 0.2 * second);
  EXPECT_NEAR(level_of(table[0]), 4, 0.4);
  EXPECT_NEAR(level_of(table[1]), 6, 0.6);
}

TEST(GrainCollector, LatencyOfResultsDoesNotMatter) {
  const Clip clip{.frames = 120,
                  .brightness = [](int i) { return i < 80 ? 60.0 : 160.0; },
                  .sigma = [](int i) { return i < 40 ? 4.0 : 6.0; }};
  const GrainTable prompt = table_of(clip);
  EXPECT_EQ(prompt.size(), 3u);
  for (const int delay : {1, 3, 100}) EXPECT_EQ(table_of(clip, delay), prompt) << delay;
}

TEST(GrainCollector, SparseSamplingGivesASimilarLevel) {
  const GrainTable few = table_of({.frames = 100}, 0, {.step = 6, .dense = 48, .sparse_step = 48});
  ASSERT_EQ(few.size(), 1u);
  EXPECT_NEAR(level_of(few[0]), 5, 0.5);
}

TEST(GrainCollector, CleanClipHasAnEntryWithoutGrain) {
  const GrainTable table = table_of({.sigma = [](int) { return 0.0; }});
  ASSERT_EQ(table.size(), 1u);
  EXPECT_FALSE(table[0].grain);
}

KnownNoise white_from(double from_s, float level) {
  KnownNoise known{from_s, NoiseEstimate{}};
  known.noise->noise = NoiseModel({level, 0, 0});
  known.noise->by_luma[0] = {{100, level}};
  return known;
}

// Noise that is known from 1.6 s on does not apply to earlier frames. Scenes with the same known
// noise keep their relative levels.
TEST(GrainCollector, KnownNoiseIsUsedFromItsStartTime) {
  const Clip clip{.frames = 120, .sigma = [](int i) { return i < 40 ? 4.0 : i < 80 ? 6.0 : 9.0; }};
  const double start = 3.6;
  const GrainTable table =
      table_of(clip, 3, {}, {white_from(start, 8), white_from(start + 1.6, 12)});
  ASSERT_EQ(table.size(), 3u);
  EXPECT_NEAR(level_of(table[0]), 8, 0.6);
  EXPECT_NEAR(level_of(table[2]) / level_of(table[1]), 1.5, 0.1);
  const GrainTable one = table_of(clip, 0, {}, {white_from(start, 10)});
  ASSERT_EQ(one.size(), 3u);
  EXPECT_NEAR(level_of(one[2]) / level_of(one[0]), 2.25, 0.15);
  EXPECT_EQ(table_of(clip, 7, {}, {white_from(start, 10)}), one);
}

TEST(GrainCollector, NoFramesGiveNoEntry) { EXPECT_TRUE(GrainCollector(grey).finish().empty()); }

}  // namespace
}  // namespace lull
