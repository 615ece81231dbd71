#include "core/dither/dither.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "core/samples.h"
#include "support/pictures.h"

namespace lull {
namespace {

using test_support::make_frame;

constexpr Dither patterns[] = {Dither::ordered, Dither::noise};

Frame dithered_frame(const Plane<float>& plane, Dither dither, int bits = 8) {
  FrameFormat format{.width = plane.width(), .height = plane.height(), .bits = bits};
  if (bits > 8) format.sample = SampleType::u16;
  format.dither = dither;
  Frame frame = make_frame(format);
  store_plane(plane.view(), frame, 0);
  return frame;
}

/// Rounding errors of 8x8 means and of single samples, in samples of 8 bits.
struct Errors {
  double means = 0, samples = 0, max_sample = 0;
};

Errors errors_of(const Plane<float>& plane, const Frame& frame) {
  constexpr int side = 8;
  Errors errors;
  double blocks = 0;
  for (int top = 0; top < plane.height(); top += side)
    for (int left = 0; left < plane.width(); left += side, ++blocks) {
      double sum = 0;
      for (int y = top; y < top + side; ++y)
        for (int x = left; x < left + side; ++x) {
          const double error =
              frame.plane<std::uint8_t>(0)(x, y) - static_cast<double>(plane.view()(x, y));
          sum += error;
          errors.samples += error * error;
          errors.max_sample = std::max(errors.max_sample, std::abs(error));
        }
      errors.means += sum * sum / (side * side * side * side);
    }
  errors.means = std::sqrt(errors.means / blocks);
  errors.samples = std::sqrt(errors.samples / blocks / (side * side));
  return errors;
}

/// Returns a gradient of 10 levels over 512 samples, and the noise that a filter leaves: smooth
/// noise whose standard deviation is `residual`.
Plane<float> gradient(double residual, bool along_x, double base) {
  constexpr int side = 512;
  std::mt19937 rng{7};
  std::normal_distribution<double> noise{0, residual * 1.5};  // the mean below has 2/3 of it
  Plane<float> white(side + 2, side + 2), plane(side, side);
  for (int y = 0; y < side + 2; ++y)
    for (int x = 0; x < side + 2; ++x) white.view()(x, y) = static_cast<float>(noise(rng));
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) {
      const float smooth = (2 * white.view()(x, y) + white.view()(x + 1, y) +
                            white.view()(x, y + 1) + white.view()(x + 2, y + 2)) /
                           4;
      plane.view()(x, y) =
          static_cast<float>(base + 10.0 * (along_x ? x : y) / (side - 1)) + smooth;
    }
  return plane;
}

TEST(Dither, NoneHasNoPattern) { EXPECT_EQ(dither_pattern(Dither::none), nullptr); }

TEST(Dither, EachTileOf8x8SamplesHasAllThresholdsOnce) {
  for (const Dither dither : patterns) {
    const DitherPattern& pattern = *dither_pattern(dither);
    for (int top = 0; top < 64; top += 8)
      for (int left = 0; left < 64; left += 8) {
        std::set<float> thresholds;
        for (int y = top; y < top + 8; ++y)
          for (int x = left; x < left + 8; x += dither_group)
            thresholds.insert(pattern[dither_index(x, y)]);
        ASSERT_EQ(thresholds.size(), 16u);
        EXPECT_EQ(*thresholds.begin(), 1.0f / 32);
        EXPECT_EQ(*thresholds.rbegin(), 31.0f / 32);
      }
  }
}

TEST(Dither, PatternRepeatsAfter64Samples) {
  EXPECT_EQ(dither_index(3, 5), dither_index(64 + 3, 5));
  EXPECT_EQ(dither_index(3, 5), dither_index(3, 64 + 5));
  EXPECT_EQ(dither_index(0, 5), dither_index(3, 5));
  EXPECT_NE(dither_index(3, 5), dither_index(4, 5));
}

TEST(Dither, IntegersAreUnchanged) {
  for (const Dither dither : patterns)
    for (const int bits : {8, 10, 16}) {
      const int count = 1 << bits;
      Plane<float> plane(std::min(count, 1 << 12), 1);
      for (int x = 0; x < plane.width(); ++x)
        plane.view()(x, 0) =
            static_cast<float>((x * (count / plane.width())) * 255.0 / (count - 1));
      const Frame frame = dithered_frame(plane, dither, bits);
      for (int x = 0; x < plane.width(); ++x) {
        const int sample =
            bits == 8 ? frame.plane<std::uint8_t>(0)(x, 0) : frame.plane<std::uint16_t>(0)(x, 0);
        // A value that is a little less than an integer may be rounded down.
        EXPECT_NEAR(sample, x * (count / plane.width()), bits == 8 ? 0 : 1) << bits;
      }
    }
}

TEST(Dither, ExtremeValuesAreClamped) {
  for (const Dither dither : patterns) {
    Plane<float> plane(16, 2);
    for (int y = 0; y < 2; ++y)
      for (int x = 0; x < 16; ++x)
        plane.view()(x, y) = x % 3 == 0   ? std::numeric_limits<float>::quiet_NaN()
                             : x % 3 == 1 ? 1e30f
                                          : -5.0f;
    for (const int bits : {8, 16}) {
      const Frame frame = dithered_frame(plane, dither, bits);
      for (int x = 0; x < 16; ++x) {
        const int sample =
            bits == 8 ? frame.plane<std::uint8_t>(0)(x, 1) : frame.plane<std::uint16_t>(0)(x, 1);
        EXPECT_NEAR(sample, x % 3 == 1 ? (1 << bits) - 1 : 0, 0.1) << x << " " << bits;
      }
    }
  }
}

TEST(Dither, MeansOfAreasAreKept) {
  for (const Dither dither : patterns)
    for (const float level : {100.0f, 100.03f, 100.25f, 100.5f, 100.97f}) {
      Plane<float> plane(64, 64);
      for (int y = 0; y < 64; ++y)
        for (int x = 0; x < 64; ++x) plane.view()(x, y) = level;
      const Errors errors = errors_of(plane, dithered_frame(plane, dither));
      EXPECT_LE(errors.means, 1.0 / 128) << level;
      EXPECT_LE(errors.max_sample, 1);
    }
}

TEST(Dither, GradientKeepsMeansOf8x8Samples) {
  for (const Dither dither : patterns)
    for (const double residual : {0.0, 0.15, 0.3, 0.39})
      for (const bool along_x : {true, false})
        for (const double base : {18.0, 100.0, 100.37}) {
          const Plane<float> plane = gradient(residual, along_x, base);
          const Errors errors = errors_of(plane, dithered_frame(plane, dither));
          EXPECT_LE(errors.means, 0.024) << residual << " " << along_x << " " << base;
          EXPECT_LE(errors.samples, 0.42);
        }
  const Plane<float> plane = gradient(0.3, true, 100);
  EXPECT_GE(errors_of(plane, dithered_frame(plane, Dither::none)).means, 0.05);
}

TEST(Dither, PartOfARowBehavesAsInTheCompleteRow) {
  // The samples of a group depend only on the group: a change of other groups has no effect.
  Plane<float> plane = gradient(0.3, true, 100);
  const Frame before = dithered_frame(plane, Dither::noise);
  for (int y = 0; y < 512; ++y) plane.view()(100, y) += 7.3f;
  const Frame after = dithered_frame(plane, Dither::noise);
  for (int y = 0; y < 512; ++y)
    for (int x = 0; x < 512; ++x) {
      if (x / dither_group == 100 / dither_group) continue;
      ASSERT_EQ(before.plane<std::uint8_t>(0)(x, y), after.plane<std::uint8_t>(0)(x, y));
    }
}

TEST(Dither, PatternsAreFixed) {
  // Results would change with the patterns, so they must not depend on the compiler or the machine.
  const auto sum = [](Dither dither) {
    std::uint32_t digest = 2166136261u;
    for (const float threshold : *dither_pattern(dither))
      digest = (digest ^ static_cast<std::uint32_t>(threshold * 32)) * 16777619u;
    return digest;
  };
  EXPECT_EQ(sum(Dither::ordered), 1440712133u);
  EXPECT_EQ(sum(Dither::noise), 911998293u);
}

}  // namespace
}  // namespace lull
