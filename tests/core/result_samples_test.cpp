#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "core/denoiser.h"
#include "core/error.h"
#include "core/frame_pool.h"
#include "core/samples.h"
#include "core/validate_format.h"
#include "support/pictures.h"

namespace lull {
namespace {

using test_support::make_frame;
using test_support::plane_of;

FrameFormat wide(Layout layout, int bits) {
  return {.width = 1 << bits,
          .height = 1,
          .layout = layout,
          .sample = bits == 8 ? SampleType::u8 : SampleType::u16,
          .bits = bits};
}

int sample_at(const Frame& frame, int plane, int x) {
  return frame.format.sample == SampleType::u8 ? frame.plane<std::uint8_t>(plane)(x, 0)
                                               : frame.plane<std::uint16_t>(plane)(x, 0);
}

/// Returns a frame with every value of the bit depth in each plane.
Frame ramp(const FrameFormat& format) {
  Frame frame = make_frame(format);
  for (int i = 0; i < format.planes(); ++i)
    for (int x = 0; x < format.width; ++x)
      if (format.sample == SampleType::u8)
        frame.plane<std::uint8_t>(i)(x, 0) = static_cast<std::uint8_t>(x);
      else
        frame.plane<std::uint16_t>(i)(x, 0) = static_cast<std::uint16_t>(x);
  return frame;
}

Frame converted(const Frame& frame, const ResultSamples& samples) {
  FramePool pool(result_format(frame.format, samples));
  return copied(frame, pool);
}

TEST(ResultSamples, DefaultIsTheFormatOfTheInput) {
  for (const Layout layout : {Layout::gray, Layout::yuv, Layout::rgb})
    for (const int bits : {8, 10, 16})
      for (const bool full : {false, true}) {
        const FrameFormat format = wide(layout, bits);
        EXPECT_EQ(result_format(format, {.full_range = full}), format);
        EXPECT_EQ(result_format(format, {.bits = bits, .full_range = full}), format);
      }
  const FrameFormat floats{.width = 4, .height = 4, .sample = SampleType::f32, .bits = 32};
  EXPECT_EQ(result_format(floats, {.bits = 10, .dither = Dither::noise}), floats);
}

TEST(ResultSamples, FullRangeMapsTheMaximumToTheMaximum) {
  for (const int from : {8, 10, 12})
    for (const int to : {8, 9, 10, 12, 14, 16}) {
      const Frame frame = ramp(wide(Layout::rgb, from));
      const Frame result = converted(frame, {.bits = to, .full_range = true});
      const int max = (1 << to) - 1, greatest = (1 << from) - 1;
      for (int x = 0; x <= greatest; ++x)
        for (int i = 0; i < 3; ++i)
          ASSERT_EQ(sample_at(result, i, x), (2 * x * max + greatest) / (2 * greatest))
              << from << " to " << to << " bits, " << x;
    }
}

TEST(ResultSamples, LimitedRangeMultipliesByPowersOfTwo) {
  for (const int from : {8, 10})
    for (const int to : {10, 12, 16}) {
      const Frame frame = ramp(wide(Layout::yuv, from));
      const Frame result = converted(frame, {.bits = to});
      for (int x = 0; x < 1 << from; ++x)
        for (int i = 0; i < 3; ++i) ASSERT_EQ(sample_at(result, i, x), x << (to - from));
    }
}

TEST(ResultSamples, FewerBitsAreRounded) {
  const Frame frame = ramp(wide(Layout::yuv, 10));
  const Frame result = converted(frame, {.bits = 8});
  for (int x = 0; x < 1024; ++x)
    for (int i = 0; i < 3; ++i) ASSERT_EQ(sample_at(result, i, x), std::min((x + 2) / 4, 255)) << x;
}

TEST(ResultSamples, ChromaOfFullRangeKeepsItsNeutralValue) {
  const Frame frame = ramp(wide(Layout::yuv, 8));
  const Frame result = converted(frame, {.bits = 10, .full_range = true});
  EXPECT_EQ(sample_at(result, 0, 255), 1023);
  EXPECT_EQ(sample_at(result, 1, 128), 512);
  EXPECT_EQ(sample_at(result, 2, 255), 1020);
}

TEST(ResultSamples, AreOnTheScaleOfTheInput) {
  for (const bool full : {false, true}) {
    const Frame frame = ramp(wide(Layout::yuv, 8));
    const Frame result = converted(frame, {.bits = 12, .full_range = full});
    for (int i = 0; i < 3; ++i) {
      const Plane<float> a = plane_of(frame, i), b = plane_of(result, i);
      for (int x = 0; x < 256; ++x) ASSERT_NEAR(a.view()(x, 0), b.view()(x, 0), 0.04);
    }
  }
}

TEST(ResultSamples, ConversionBackRestoresTheInput) {
  for (const bool full : {false, true})
    for (const int bits : {10, 16}) {
      const Frame frame = ramp(wide(Layout::yuv, 8));
      FramePool pool(frame.format);
      EXPECT_TRUE(test_support::same_samples(
          frame, copied(converted(frame, {.bits = bits, .full_range = full}), pool)));
    }
}

TEST(ResultSamples, InvalidBitDepthsAreRejected) {
  for (const int bits : {7, 17, -1})
    EXPECT_THROW(validate(Backend{.results = {.bits = bits}}), InvalidArgument);
  validate(Backend{.results = {.bits = 16}});
}

}  // namespace
}  // namespace lull
