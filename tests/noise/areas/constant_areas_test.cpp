#include "noise/areas/constant_areas.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/frame_pool.h"
#include "noise/areas/area_session.h"
#include "noise/areas/opening.h"

namespace lull {
namespace {

constexpr int side = 96;
constexpr float sigma = 8;

bool in_disc(int x, int y) { return std::hypot(x - 40.3, y - 52.8) < 26; }
double scene(int x, int y) { return 110 + 40 * std::sin(0.09 * x) + 30 * std::cos(0.07 * y); }

/// Returns a grey frame of 8 bits: the rounded and clipped signal with noise, or the value of a
/// constant area.
Frame frame_of(const std::function<double(int, int)>& signal, double noise,
               const std::function<int(int, int)>& constant = {}, unsigned seed = 1) {
  FramePool pool({.width = side, .height = side});
  Frame frame = pool.acquire();
  std::mt19937 rng{seed};
  std::normal_distribution<double> gaussian{0, 1};
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) {
      const double v = std::round(signal(x, y) + noise * gaussian(rng));
      const int fixed = constant ? constant(x, y) : -1;
      frame.plane<std::uint8_t>(0)(x, y) =
          static_cast<std::uint8_t>(fixed >= 0 ? fixed : std::clamp(v, 0.0, 255.0));
    }
  return frame;
}

std::vector<bool> samples_in(const std::vector<SampleRun>& runs) {
  std::vector<bool> in(side * side);
  for (const SampleRun& run : runs)
    for (int x = run.begin; x < run.end; ++x) {
      EXPECT_FALSE(in[run.y * side + x]) << "runs overlap";
      in[run.y * side + x] = true;
    }
  return in;
}

std::int64_t size_of(const std::vector<SampleRun>& runs) {
  return std::ranges::count(samples_in(runs), true);
}

void expect_exactly(const std::vector<SampleRun>& runs,
                    const std::function<bool(int, int)>& expected) {
  const std::vector<bool> in = samples_in(runs);
  int wrong = 0;
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) wrong += in[y * side + x] != expected(x, y);
  EXPECT_EQ(wrong, 0);
}

TEST(ConstantAreas, AreFoundWhateverTheirValueAndShape) {
  for (const int value : {0, 7, 250, 255}) {
    SCOPED_TRACE(value);
    const auto background = [&](int x, int y) { return in_disc(x, y) ? -1 : value; };
    const Frame frame = frame_of(scene, sigma, background);
    const PlaneAreas areas = find_areas(frame, 0, sigma, false);
    expect_exactly(areas.preserved, [](int x, int y) { return !in_disc(x, y); });
    expect_exactly(areas.foreign, [](int x, int y) { return !in_disc(x, y); });
  }
}

TEST(ConstantAreas, MayHaveAValueThatOccursInThePicture) {
  const Frame frame = frame_of(scene, sigma, [](int x, int y) { return in_disc(x, y) ? -1 : 120; });
  for (const bool is_slice : {false, true}) {
    const std::vector<bool> in = samples_in(find_areas(frame, 0, sigma, is_slice).preserved);
    int lost = 0, wrong = 0;
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x) {
        lost += !in_disc(x, y) && !in[y * side + x];
        wrong += in_disc(x, y) && in[y * side + x];
      }
    EXPECT_LT(lost, 10) << "only corners, where noise could produce the value";
    EXPECT_LT(wrong, 15);
  }
}

TEST(ConstantAreas, OfSlicesIncludeSingleVoxelsWithTheValueOfTheBackground) {
  const auto is_background = [](int x, int y) {
    const bool is_deep = std::hypot(x - 40.3, y - 52.8) < 22;
    return !in_disc(x, y) || (is_deep && x % 7 == 3 && y % 9 == 4);
  };
  const Frame frame =
      frame_of(scene, sigma, [&](int x, int y) { return is_background(x, y) ? 0 : -1; });
  expect_exactly(find_areas(frame, 0, sigma, true).preserved, is_background);
  expect_exactly(find_areas(frame, 0, sigma, false).preserved,
                 [](int x, int y) { return !in_disc(x, y); });
}

TEST(ConstantAreas, OfSlicesIncludeSmallSquaresWithTheValueOfTheBackground) {
  for (const int offset : {0, 1}) {
    const auto is_background = [&](int x, int y) {
      const bool is_deep = std::hypot(x - 40.3, y - 52.8) < 22;
      return !in_disc(x, y) || (is_deep && (x + offset) % 8 < 2 && (y + offset) % 8 < 2);
    };
    const Frame frame =
        frame_of(scene, sigma, [&](int x, int y) { return is_background(x, y) ? 0 : -1; });
    expect_exactly(find_areas(frame, 0, sigma, true).preserved, is_background);
  }
}

TEST(ConstantAreas, AreNotFoundInNoise) {
  for (const double noise : {0.3, 0.6, 1.0, 3.0, 20.0})
    for (const bool is_slice : {false, true}) {
      const PlaneAreas areas =
          find_areas(frame_of(scene, noise), 0, static_cast<float>(noise), is_slice);
      EXPECT_TRUE(areas.none()) << noise << ' ' << is_slice << ' ' << size_of(areas.preserved);
    }
}

TEST(ConstantAreas, AreNotFoundInClippedNoise) {
  // Half of the samples are clipped, so that samples of value 0 are connected across the frame.
  const Frame frame = frame_of([](int, int) { return 0.0; }, sigma);
  EXPECT_LT(size_of(find_areas(frame, 0, sigma, false).preserved), side * side / 200);
  EXPECT_TRUE(find_areas(frame, 0, sigma, false).foreign.empty());
}

TEST(ConstantAreas, OfSaturationEndWhereNoiseIsClipped) {
  // Truth rises from 235 on the left to 331 on the right.
  const Frame frame = frame_of([](int x, int) { return 235.0 + x; }, sigma);
  const PlaneAreas areas = find_areas(frame, 0, sigma, false);
  const std::vector<bool> in = samples_in(areas.preserved);
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) {
      if (x > 60) EXPECT_TRUE(in[y * side + x]) << x << ", " << y;
      if (x < 20) EXPECT_FALSE(in[y * side + x]) << x << ", " << y;
    }
  EXPECT_TRUE(areas.foreign.empty()) << "a replacement would darken the samples beside it";
}

TEST(ConstantAreas, AreNotFoundInBandsOfAGradient) {
  const Frame frame = frame_of([](int x, int y) { return 60 + 0.08 * x + 0.01 * y; }, 0);
  for (const float level : {0.5f, 4.0f})
    EXPECT_TRUE(find_areas(frame, 0, level, false).none()) << level;
}

TEST(ConstantAreas, IncludeLetterboxesBesideDarkPictures) {
  const auto is_bar = [](int, int y) { return y < 11 || y >= side - 11; };
  const Frame frame = frame_of([](int, int) { return 17.0; }, 2,
                               [&](int x, int y) { return is_bar(x, y) ? 16 : -1; });
  const std::vector<bool> in = samples_in(find_areas(frame, 0, 2, false).preserved);
  int lost = 0, wrong = 0;
  for (int i = 0; i < side * side; ++i) {
    lost += is_bar(0, i / side) && !in[i];
    wrong += !is_bar(0, i / side) && in[i];
  }
  EXPECT_EQ(lost, 0);
  EXPECT_LT(wrong, 15) << "samples that have the value by chance";
}

TEST(ConstantAreas, AreNotFoundInBlocksOfACodec) {
  std::mt19937 rng{3};
  std::vector<int> level(12 * 12);
  for (int& v : level) v = 40 + static_cast<int>(rng() % 8) * 22;
  // Constant areas of 32 x 32 samples, as a coarsely quantised picture has.
  const auto block = [&](int x, int y) { return level[(y / 32) * 12 + x / 32]; };
  const Frame frame = frame_of(scene, 0, block);
  const PlaneAreas areas = find_areas(frame, 0, 3, false);
  EXPECT_TRUE(areas.none()) << size_of(areas.preserved);
}

TEST(ConstantAreas, CoverAConstantPlaneThatNeedsNoReplacement) {
  const Frame frame = frame_of(scene, 0, [](int, int) { return 128; });
  const PlaneAreas areas = find_areas(frame, 0, sigma, false);
  EXPECT_EQ(size_of(areas.preserved), side * side);
  EXPECT_TRUE(areas.foreign.empty());
}

TEST(ConstantAreas, OfFloatsMayBesideNan) {
  FramePool pool({.width = side, .height = side, .sample = SampleType::f32, .bits = 32});
  Frame frame = pool.acquire();
  std::mt19937 rng{1};
  std::normal_distribution<float> gaussian{0.5f, 0.03f};
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x)
      frame.plane<float>(0)(x, y) = x < 20 ? std::nanf("") : x < 60 ? -0.25f : gaussian(rng);
  expect_exactly(find_areas(frame, 0, sigma, true).preserved,
                 [](int x, int) { return x >= 20 && x < 60; });
}

TEST(Opening, IsTheUnionOfTheSquaresInside) {
  std::mt19937 rng{7};
  SampleSet set(23, 17);
  for (std::uint8_t& v : set.marked) v = rng() % 8 != 0;
  for (const int square : {1, 2, 3, 5}) {
    SampleSet expected(set.width, set.height);
    for (int y = 0; y + square <= set.height; ++y)
      for (int x = 0; x + square <= set.width; ++x) {
        bool inside = true;
        for (int i = 0; i < square * square; ++i)
          inside = inside && set.has(x + i % square, y + i / square);
        for (int i = 0; inside && i < square * square; ++i)
          expected.at(x + i % square, y + i / square) = 1;
      }
    EXPECT_EQ(opened(set, square).marked, expected.marked) << square;
  }
}

/// A filter that returns 10 more than it gets, and records what it gets.
class Brightener final : public Denoiser {
 public:
  explicit Brightener(std::vector<Frame>& seen) : seen_(seen) {}
  int latency() const noexcept override { return 1; }
  std::optional<Frame> push(Frame noisy) override {
    seen_.push_back(noisy);
    Frame result = pool_.acquire();
    result.copy_info(noisy);
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x)
        result.plane<std::uint8_t>(0)(x, y) =
            static_cast<std::uint8_t>(std::min(noisy.plane<std::uint8_t>(0)(x, y) + 10, 255));
    return std::exchange(held_, std::move(result));
  }
  std::optional<Frame> drain() override { return std::exchange(held_, std::nullopt); }

 private:
  std::vector<Frame>& seen_;
  FramePool pool_{FrameFormat{.width = side, .height = side}};
  std::optional<Frame> held_;
};

TEST(AreaSession, RestoresAreasAndHidesThemFromTheFilter) {
  const auto mask = [](int x, int y) { return in_disc(x, y) ? -1 : 0; };
  const std::vector<Frame> frames = {frame_of(scene, sigma, mask), frame_of(scene, sigma),
                                     frame_of(scene, sigma, mask, 2)};
  std::vector<Frame> seen, results;
  const auto session = with_constant_areas(
      [](const Frame&) {
        return std::array{sigma, sigma, sigma};
      },
      frames[0].format, std::make_unique<Brightener>(seen), {}, {});
  for (const Frame& frame : frames)
    if (auto result = session->push(frame)) results.push_back(*std::move(result));
  while (auto result = session->drain()) results.push_back(*std::move(result));
  ASSERT_EQ(results.size(), frames.size());
  for (std::size_t i = 0; i < frames.size(); ++i)
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x) {
        const int noisy = frames[i].plane<std::uint8_t>(0)(x, y);
        const bool is_area = i != 1 && !in_disc(x, y);
        ASSERT_EQ(results[i].plane<std::uint8_t>(0)(x, y), is_area ? 0 : std::min(noisy + 10, 255));
        if (is_area)
          ASSERT_GT(seen[i].plane<std::uint8_t>(0)(x, y), 10) << x << ", " << y;
        else
          ASSERT_EQ(seen[i].plane<std::uint8_t>(0)(x, y), noisy);
      }
  EXPECT_EQ(seen[1].pixels, frames[1].pixels) << "a frame without areas is not copied";
}

}  // namespace
}  // namespace lull
