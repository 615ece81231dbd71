#include "core/samples.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "support/pictures.h"

namespace lull {
namespace {

using test_support::make_frame;

Frame one_sample(SampleType sample, int bits) {
  return make_frame({.width = 1, .height = 1, .sample = sample, .bits = bits});
}

Plane<float> one(float value) {
  Plane<float> plane(1, 1);
  plane.view()(0, 0) = value;
  return plane;
}

TEST(Samples, EveryValueOfEveryDepthSurvivesRoundTrip) {
  for (const int bits : {8, 9, 10, 12, 14, 16}) {
    const int count = 1 << bits;
    const Frame frame =
        make_frame({.width = count, .height = 1, .sample = SampleType::u16, .bits = bits});
    for (int v = 0; v < count; ++v)
      frame.plane<std::uint16_t>(0)(v, 0) = static_cast<std::uint16_t>(v);
    Plane<float> loaded(count, 1);
    load_plane(frame, 0, loaded.view());
    EXPECT_EQ(loaded.view()(0, 0), 0);
    EXPECT_NEAR(loaded.view()(count - 1, 0), 255, 1e-4);
    const Frame back = make_frame(frame.format, 0, 0xee);
    store_plane(loaded.view(), back, 0);
    EXPECT_TRUE(test_support::same_samples(frame, back)) << bits << " bits";
  }
}

TEST(Samples, AreRoundedToNearestAndClamped) {
  const Frame byte = one_sample(SampleType::u8, 8);
  const auto stored = [&](float value) {
    store_plane(one(value).view(), byte, 0);
    return static_cast<int>(byte.plane<std::uint8_t>(0)(0, 0));
  };
  EXPECT_EQ(stored(3.4f), 3);
  EXPECT_EQ(stored(3.6f), 4);
  EXPECT_EQ(stored(254.6f), 255);
  EXPECT_EQ(stored(300.0f), 255);
  EXPECT_EQ(stored(-0.4f), 0);
  EXPECT_EQ(stored(-1e30f), 0);
  EXPECT_EQ(stored(std::numeric_limits<float>::infinity()), 255);
  EXPECT_EQ(stored(std::numeric_limits<float>::quiet_NaN()), 0);

  const Frame word = one_sample(SampleType::u16, 10);
  store_plane(one(255).view(), word, 0);
  EXPECT_EQ(word.plane<std::uint16_t>(0)(0, 0), 1023);
  store_plane(one(256).view(), word, 0);
  EXPECT_EQ(word.plane<std::uint16_t>(0)(0, 0), 1023);
}

TEST(Samples, TiesAreRoundedUpwards) {
  static_assert(as_sample<std::uint8_t>(0.5f, 255) == 1);
  const auto byte = [](float v) { return static_cast<int>(as_sample<std::uint8_t>(v, 255)); };
  const auto word = [](float v) { return static_cast<int>(as_sample<std::uint16_t>(v, 65535)); };
  for (int k = 0; k < 255; ++k) EXPECT_EQ(byte(static_cast<float>(k) + 0.5f), k + 1);
  for (int k = 0; k < 65535; ++k) {
    const float tie = static_cast<float>(k) + 0.5f;
    ASSERT_EQ(word(tie), k + 1);
    ASSERT_EQ(word(std::nextafter(tie, 1e9f)), k + 1);
    ASSERT_EQ(word(tie - 0.01f), k);
  }
}

TEST(Samples, FloatsKeepOutOfRangeValues) {
  const Frame frame = one_sample(SampleType::f32, 32);
  for (const float value : {-51.0f, 0.0f, 127.5f, 510.0f}) {
    store_plane(one(value).view(), frame, 0);
    EXPECT_FLOAT_EQ(frame.plane<float>(0)(0, 0), value / 255);
    Plane<float> back(1, 1);
    load_plane(frame, 0, back.view());
    EXPECT_FLOAT_EQ(back.view()(0, 0), value);
  }
}

}  // namespace
}  // namespace lull
