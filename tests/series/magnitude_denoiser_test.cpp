#include "series/complex/magnitude_denoiser.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "core/frame_pool.h"

namespace lull::series {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr std::int64_t slices = 5;

FrameFormat slice_format() {
  FrameFormat format{.width = 4, .height = 1};
  format.sample = SampleType::f32;
  format.bits = 32;
  format.white = 255;
  return format;
}

Frame slice_with(std::array<float, 4> values, std::int64_t number) {
  FramePool pool(slice_format());
  Frame slice = pool.acquire();
  slice.pts = number;
  std::ranges::copy(values, slice.plane<float>(0).row(0));
  return slice;
}

/// Returns 3 for real parts and -4 for imaginary parts, except where it preserves the sample.
class Parts final : public Denoiser {
 public:
  int latency() const noexcept override { return 0; }
  std::optional<Frame> push(Frame noisy) override {
    float* samples = noisy.plane<float>(0).row(0);
    const bool is_real = noisy.pts < slices;
    for (int x = 0; x < 3; ++x) samples[x] = is_real ? 3 : -4;
    return noisy;
  }
  std::optional<Frame> drain() override { return std::nullopt; }
};

TEST(MagnitudeDenoiser, ReturnsMagnitudesAndPreservesSamplesWithoutNoise) {
  int calls = 0;
  const auto observer = [&](const Frame& noisy, const Frame& real, const Frame& imaginary) {
    ++calls;
    EXPECT_EQ(noisy.plane<float>(0)(0, 0), 70);
    EXPECT_EQ(real.plane<float>(0)(0, 0), 3);
    EXPECT_EQ(imaginary.plane<float>(0)(0, 0), -4);
    EXPECT_EQ(imaginary.pts, noisy.pts + slices);
  };
  constexpr float zero = 10;
  const auto session =
      open_magnitudes(std::make_unique<Parts>(), slice_format(), slices, zero, observer);
  const std::optional<Frame> result = session->push(slice_with({70, 80, nan, 33}, 2));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->pts, 2);
  const float* samples = result->plane<float>(0).row(0);
  EXPECT_FLOAT_EQ(samples[0], zero + 5);
  EXPECT_FLOAT_EQ(samples[1], zero + 5);
  EXPECT_TRUE(std::isnan(samples[2]));
  EXPECT_EQ(samples[3], 33);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace lull::series
