#include "pipeline/scale_denoiser.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <functional>
#include <memory>

#include "core/plane.h"
#include "core/samples.h"

namespace lull::pipeline {
namespace {

constexpr FrameFormat yuv{
    .width = 37, .height = 22, .layout = Layout::yuv, .chroma_shift_x = 1, .chroma_shift_y = 1};

using Picture = std::function<float(int plane, double x, double y)>;

/// Each sample is the picture's value in the middle of its area, which is `scale` samples of the
/// full size wide.
Frame frame_of(const FrameFormat& format, const Picture& picture, double scale = 1) {
  FramePool pool(format);
  Frame frame = pool.acquire();
  frame.time_base = {1, 25};
  for (int i = 0; i < format.planes(); ++i) {
    Plane<float> plane(format.plane_width(i), format.plane_height(i));
    for (int y = 0; y < plane.height(); ++y)
      for (int x = 0; x < plane.width(); ++x)
        plane.view()(x, y) = picture(i, (x + 0.5) * scale, (y + 0.5) * scale);
    store_plane(plane.view(), frame, i);
  }
  return frame;
}

Plane<float> plane_of(const Frame& frame, int i) {
  Plane<float> plane(frame.format.plane_width(i), frame.format.plane_height(i));
  load_plane(frame, i, plane.view());
  return plane;
}

/// Adds a number to every sample, with a latency of `delay` frames.
struct AddingDenoiser final : Denoiser {
  AddingDenoiser(const FrameFormat& format, float number, int late)
      : pool(format), add(number), delay(late) {}
  int latency() const noexcept override { return delay; }
  std::optional<Frame> push(Frame noisy) override {
    held.push_back(std::move(noisy));
    return static_cast<int>(held.size()) > delay ? oldest() : std::nullopt;
  }
  std::optional<Frame> drain() override { return held.empty() ? std::nullopt : oldest(); }

  std::optional<Frame> oldest() {
    const Frame frame = std::move(held.front());
    held.pop_front();
    Frame result = pool.acquire();
    result.copy_info(frame);
    for (int i = 0; i < frame.format.planes(); ++i) {
      Plane<float> plane = plane_of(frame, i);
      for (int y = 0; y < plane.height(); ++y)
        for (int x = 0; x < plane.width(); ++x) plane.view()(x, y) += add;
      store_plane(plane.view(), result, i);
    }
    return result;
  }
  FramePool pool;
  float add;
  int delay;
  std::deque<Frame> held;
};

TEST(Halving, KeepsSmoothContent) {
  // A plane in space remains the same plane, also at odd sizes, except at the borders, which are
  // mirrored.
  const Picture ramp = [](int i, double x, double y) {
    return static_cast<float>(40 + 20 * i + 1.5 * x + 2 * y);
  };
  for (const SampleType sample : {SampleType::u8, SampleType::f32}) {
    FrameFormat format = yuv;
    format.sample = sample;
    if (sample == SampleType::f32) format.bits = 32;
    Halving halving(format);
    Frame whole = frame_of(format, ramp);
    whole.pts = 77;
    whole.repeat_state = RepeatState::repeats;
    whole.context_distance = -2;
    const Frame half = halving.of(whole);
    EXPECT_EQ(half.format, half_format(format));
    EXPECT_EQ(half.pts, 77);
    EXPECT_EQ(half.repeat_state, RepeatState::repeats);
    EXPECT_EQ(half.context_distance, -2);
    const Frame expected = frame_of(half_format(format), ramp, 2);
    for (int i = 0; i < 3; ++i) {
      const Plane<float> a = plane_of(half, i), b = plane_of(expected, i);
      ASSERT_EQ(a.width(), b.width());
      for (int y = 1; y + 2 < a.height(); ++y)
        for (int x = 1; x + 2 < a.width(); ++x)
          EXPECT_NEAR(a.view()(x, y), b.view()(x, y), 0.6) << i << " " << x << " " << y;
    }
  }
}

TEST(Halving, AcceptsSizesDownToOne) {
  for (const int width : {1, 2, 3})
    for (const int height : {1, 2, 5}) {
      const FrameFormat format{.width = width, .height = height};
      Halving halving(format);
      const Frame half = halving.of(frame_of(format, [](int, double, double) { return 90.0f; }));
      EXPECT_EQ(half.format.width, (width + 1) / 2);
      EXPECT_NEAR(plane_of(half, 0).view()(0, 0), 90, 1e-4);
    }
}

// Content on which the results at both scales agree is unchanged. Where the half-size result has
// another mean, the combined result gets that mean.
TEST(ByScales, TakesLowFrequenciesFromTheHalf) {
  const Picture waves = [](int i, double x, double y) {
    return static_cast<float>(100 + 10 * i + 30 * std::sin(0.9 * x) * std::cos(1.3 * y));
  };
  for (const auto& [fine, coarse] : {std::pair{0.0f, 0.0f}, {3, 3}, {0, 5}, {5, 0}}) {
    const auto denoiser = by_scales(yuv, std::make_unique<AddingDenoiser>(yuv, fine, 0),
                                    std::make_unique<AddingDenoiser>(half_format(yuv), coarse, 0));
    const Frame noisy = frame_of(yuv, waves);
    const std::optional<Frame> result = denoiser->push(noisy);
    ASSERT_TRUE(result);
    for (int i = 0; i < 3; ++i) {
      const Plane<float> before = plane_of(noisy, i), after = plane_of(*result, i);
      for (int y = 0; y < before.height(); ++y)
        for (int x = 0; x < before.width(); ++x)
          EXPECT_NEAR(after.view()(x, y), before.view()(x, y) + coarse, 0.51);
    }
  }
}

TEST(ByScales, KeepsOrderForAllLatencies) {
  for (const auto& [fine, coarse] : {std::pair{0, 3}, {2, 0}, {1, 1}}) {
    const auto denoiser = by_scales(yuv, std::make_unique<AddingDenoiser>(yuv, 0, fine),
                                    std::make_unique<AddingDenoiser>(half_format(yuv), 0, coarse));
    EXPECT_EQ(denoiser->latency(), std::max(fine, coarse));
    std::vector<std::int64_t> times;
    for (int k = 0; k < 7; ++k) {
      Frame frame = frame_of(yuv, [](int, double, double) { return 9.0f; });
      frame.pts = k;
      for (auto out = denoiser->push(std::move(frame)); out; out = denoiser->next())
        times.push_back(out->pts);
    }
    while (auto out = denoiser->drain()) times.push_back(out->pts);
    EXPECT_EQ(times, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6}));
  }
}

}  // namespace
}  // namespace lull::pipeline
