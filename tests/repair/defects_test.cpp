// Tests the detection of defects and the quality of their repair.

#include <gtest/gtest.h>

#include <array>

#include "repair/clips.h"
#include "repair/lines.h"

namespace lull::repair {
namespace {

using namespace test_support;

/// Returns the defective pixels of a sensor, at fixed random positions.
std::vector<DefectiveSample> random_positions(const FrameFormat& format, double density) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<DefectiveSample> positions;
  for (int y = 0; y < format.height; ++y)
    for (int x = 0; x < format.width; ++x)
      if (uniform(random) < density) positions.push_back({.x = x, .y = y});
  return positions;
}

void add_to_samples(const Clip& clip, const std::vector<DefectiveSample>& at, double offset) {
  for (const Frame& frame : clip.noisy)
    for (const DefectiveSample& sample : at)
      set_sample(frame, 0, sample.x, sample.y, sample_of(frame, 0, sample.x, sample.y) + offset);
}

/// Returns the mean absolute error of the given samples over the clip.
double error_at(const Clip& clip, const std::vector<Frame>& results,
                const std::vector<DefectiveSample>& at) {
  double sum = 0;
  for (std::size_t i = 0; i < results.size(); ++i)
    for (const DefectiveSample& sample : at)
      sum += std::abs(sample_of(results[i], 0, sample.x, sample.y) -
                      clip.clean[i][static_cast<std::size_t>(sample.y) * width + sample.x]);
  return sum / static_cast<double>(results.size() * at.size());
}

TEST(StuckPixels, HotPixelsOfClipAreReplaced) {
  const Clip clip = make_clip(moving_waves, 4);
  const auto hot = random_positions(gray_format(), 0.002);
  add_to_samples(clip, hot, 120);
  const ClipDefects defects = find_defects(clip.excerpts());
  EXPECT_FALSE(defects.planes[0].impulses);
  EXPECT_LE(defects.planes[0].samples.size(), hot.size());
  EXPECT_GT(error_at(clip, clip.noisy, hot), 80);
  EXPECT_LT(error_at(clip, repaired(clip, defects), hot), 6);
}

TEST(StuckPixels, DeadPixelsOfClipAreReplacedInEveryFormat) {
  const FrameFormat formats[] = {
      gray_format(),
      {.width = width,
       .height = height,
       .layout = Layout::yuv,
       .chroma_shift_x = 1,
       .chroma_shift_y = 1},
      {.width = width,
       .height = height,
       .layout = Layout::rgb,
       .sample = SampleType::u16,
       .bits = 12},
      {.width = width, .height = height, .sample = SampleType::u16, .bits = 16},
      {.width = width, .height = height, .sample = SampleType::f32, .bits = 32}};
  for (const FrameFormat& format : formats) {
    const Clip clip = make_clip(moving_waves, 3, frames, format);
    const auto dead = random_positions(format, 0.001);
    add_to_samples(clip, dead, -250);
    const ClipDefects defects = find_defects(clip.excerpts());
    EXPECT_TRUE(defects.planes[1].none());
    EXPECT_LT(error_at(clip, repaired(clip, defects), dead), 6) << format.bits;
  }
}

TEST(StuckPixels, FewPixelsAreFoundExactly) {
  const Clip clip = make_clip(moving_waves, 2);
  const std::vector<DefectiveSample> hot{{.x = 20, .y = 30}, {.x = 0, .y = 0}, {.x = 90, .y = 100}};
  add_to_samples(clip, hot, 100);
  const ClipDefects defects = find_defects(clip.excerpts());
  ASSERT_EQ(defects.planes[0].samples.size(), 3u);
  EXPECT_EQ(defects.planes[0].samples[1], hot[0]);
}

TEST(StuckPixels, HotPixelsOfStaticClipAreReplaced) {
  const Clip clip = make_clip([](int x, int, int) { return 72 + x / 40.0; }, 2);
  const auto hot = random_positions(gray_format(), 0.002);
  add_to_samples(clip, hot, 90);
  EXPECT_LT(error_at(clip, repaired(clip, find_defects(clip.excerpts())), hot), 15);
}

TEST(Impulses, HotPixelsOfStillAreReplaced) {
  const Clip clip = make_clip(moving_waves, 4, 1);
  const auto hot = random_positions(gray_format(), 0.002);
  add_to_samples(clip, hot, 120);
  EXPECT_LT(error_at(clip, repaired(clip, find_defects(clip.excerpts())), hot), 10);
}

/// Returns a simple repair for comparison, which replaces all samples at the extremes by the median
/// of 3x3 samples.
std::vector<Frame> medians_of_extremes(const Clip& clip, double low, double high) {
  std::vector<Frame> results = repaired(clip, {});
  for (std::size_t i = 0; i < results.size(); ++i)
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const double value = sample_of(clip.noisy[i], 0, x, y);
        if (value > low && value < high) continue;
        std::vector<double> near;
        for (int v = y - 1; v <= y + 1; ++v)
          for (int u = x - 1; u <= x + 1; ++u)
            near.push_back(sample_of(clip.noisy[i], 0, std::clamp(u, 0, width - 1),
                                     std::clamp(v, 0, height - 1)));
        std::ranges::sort(near);
        set_sample(results[i], 0, x, y, near[4]);
      }
  return results;
}

TEST(Impulses, AreReplacedBetterThanByMedian) {
  for (const int count : {1, frames}) {
    Clip clip = make_clip(moving_waves, 0, count);
    add_impulses(clip, 0.02, 16, 235);
    const ClipDefects defects = find_defects(clip.excerpts());
    ASSERT_TRUE(defects.planes[0].impulses);
    EXPECT_GT(psnr(clip, repaired(clip, defects)),
              psnr(clip, medians_of_extremes(clip, 16, 235)) + 1);
  }
}

TEST(Impulses, InNoiseLeaveOnlyTheNoise) {
  const Clip without = make_clip(moving_waves, 10);
  Clip clip = make_clip(moving_waves, 10);
  add_impulses(clip, 0.02, 0, 255);
  EXPECT_GT(psnr(clip, repaired(clip, find_defects(clip.excerpts()))),
            psnr(without, without.noisy) - 0.1);
}

TEST(Impulses, OfPlanesWithoutSurroundingsAreKept) {
  ClipDefects defects;
  for (const bool has_value : {false, true}) {
    const ImpulseKind salt{.exists = true, .has_value = has_value, .value = 255, .tolerance = 1};
    defects.planes[0].impulses =
        ImpulseModel{.density = 0.01f, .noise = 1, .pepper = {}, .salt = salt};
    for (const auto& [columns, rows] : {std::pair(1, 40), std::pair(40, 1), std::pair(2, 2)}) {
      FramePool pool({.width = columns, .height = rows});
      const Frame frame = pool.acquire();
      for (int y = 0; y < rows; ++y)
        for (int x = 0; x < columns; ++x) set_sample(frame, 0, x, y, x + y == 1 ? 255 : 10);
      EXPECT_EQ(repair_in_place(defects, 0, frame), 0) << columns << 'x' << rows;
    }
  }
}

TEST(Impulses, OfHighDensityAreReplaced) {
  Clip clip = make_clip(moving_waves, 3);
  add_impulses(clip, 0.06, 0, 255);
  EXPECT_GT(psnr(clip, repaired(clip, find_defects(clip.excerpts()))), 36);
}

TEST(Impulses, OfChromaAreFoundInChromaOnly) {
  const FrameFormat format{.width = 2 * width,
                           .height = 2 * height,
                           .layout = Layout::yuv,
                           .chroma_shift_x = 1,
                           .chroma_shift_y = 1};
  Clip clip = make_clip(moving_waves, 2, 3, format);
  add_impulses(clip, 0.02, 16, 240, 2);
  const ClipDefects defects = find_defects(clip.excerpts());
  EXPECT_TRUE(defects.planes[0].none());
  EXPECT_TRUE(defects.planes[1].none());
  EXPECT_TRUE(defects.planes[2].impulses);
}

/// Adds offsets that are independent from row to row and from frame to frame.
void add_row_offsets(const Clip& clip, double deviation) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal(0, deviation);
  for (const Frame& frame : clip.noisy)
    for (int y = 0; y < height; ++y) {
      const double offset = normal(random);
      for (int x = 0; x < width; ++x)
        set_sample(frame, 0, x, y, sample_of(frame, 0, x, y) + offset);
    }
}

/// Returns the standard deviation of the errors of the means of rows.
double row_error(const Clip& clip, const std::vector<Frame>& results) {
  double squares = 0;
  for (std::size_t i = 0; i < results.size(); ++i)
    for (int y = 0; y < height; ++y) {
      double sum = 0;
      for (int x = 0; x < width; ++x)
        sum +=
            sample_of(results[i], 0, x, y) - clip.clean[i][static_cast<std::size_t>(y) * width + x];
      squares += sum / width * (sum / width);
    }
  return std::sqrt(squares / (height * static_cast<double>(results.size())));
}

TEST(RowOffsets, OfClipAreReducedBelowOneLevel) {
  for (const double sigma : {0.0, 4.0, 8.0}) {
    const Clip clip = make_clip(moving_waves, sigma);
    add_row_offsets(clip, 6);
    const ClipDefects defects = find_defects(clip.excerpts());
    ASSERT_TRUE(defects.planes[0].rows);
    EXPECT_NEAR(defects.planes[0].rows->deviation, 6, 0.6);
    EXPECT_FALSE(defects.planes[0].columns);
    EXPECT_GT(row_error(clip, clip.noisy), 5);
    EXPECT_LT(row_error(clip, repaired(clip, defects)), 0.9);
  }
}

// The quick test of large pictures examines only some of their lines.
TEST(RowOffsets, OfLargePicturesAreFound) {
  constexpr int side = 640;
  std::mt19937 random(7);
  std::normal_distribution<float> offset(0, 3), noise(0, 5);
  Plane<float> plain(side, side), lined(side, side);
  for (int y = 0; y < side; ++y) {
    const float of_row = offset(random);
    for (int x = 0; x < side; ++x) {
      const double picture = 120 + 40 * std::sin(x / 31.0) * std::cos(y / 45.0);
      plain.view()(x, y) = static_cast<float>(picture) + noise(random);
      lined.view()(x, y) = plain.view()(x, y) + of_row;
    }
  }
  EXPECT_TRUE(examine_lines(lined.view(), LineAxis::rows, 5).has_offsets);
  EXPECT_FALSE(examine_lines(lined.view(), LineAxis::columns, 5).has_offsets);
  EXPECT_FALSE(examine_lines(plain.view(), LineAxis::rows, 5).has_offsets);
}

TEST(Smoothing, PreservesPolynomialsBelowItsOrder) {
  std::vector<float> line, parabola;
  for (int i = 0; i < 40; ++i) {
    line.push_back(3 + 0.5f * static_cast<float>(i));
    parabola.push_back(0.1f * static_cast<float>(i * i));
  }
  const std::vector<float> smooth_line = smoothed(line, {2, 1000});
  const std::vector<float> smooth_parabola = smoothed(parabola, {3, 1000});
  for (std::size_t i = 0; i < line.size(); ++i) {
    EXPECT_NEAR(smooth_line[i], line[i], 1e-3);
    EXPECT_NEAR(smooth_parabola[i], parabola[i], 1e-3);
  }
}

TEST(Smoothing, SolvesItsEquation) {
  const std::vector<float> profile{4, 1, 7, 2, 2, 9, 5, 0};
  const std::vector<float> s = smoothed(profile, {1, 2});
  // The loop checks the equation (I + 2 D^T D) s = p, in which D takes the differences of
  // neighbours.
  for (std::size_t i = 0; i < s.size(); ++i) {
    float left = s[i];
    if (i > 0) left += 2 * (s[i] - s[i - 1]);
    if (i + 1 < s.size()) left += 2 * (s[i] - s[i + 1]);
    EXPECT_NEAR(left, profile[i], 1e-4);
  }
}

}  // namespace
}  // namespace lull::repair
