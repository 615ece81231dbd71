// Tests that an observed denoiser passes each frame with its result to the observer and changes
// nothing.

#include "pipeline/observed_denoiser.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/frame_pool.h"
#include "core/samples.h"
#include "pipeline/fakes.h"

namespace lull::pipeline {
namespace {

TEST(ObservedDenoiser, PassesEachFrameWithItsResult) {
  std::vector<std::int64_t> seen;
  const auto denoiser =
      observed(std::make_unique<FakeDenoiser>(3), [&](const Frame& noisy, const Frame& result) {
        const auto number = noisy.side_data->number;
        EXPECT_EQ(noisy.pixels[0], static_cast<std::byte>(number));
        expect_frame(result, number);
        seen.push_back(number);
      });
  EXPECT_EQ(denoiser->latency(), 3);
  std::int64_t out = 0;
  for (int i = 0; i < 7; ++i)
    if (const auto result = denoiser->push(make_frame(i))) expect_frame(*result, out++);
  EXPECT_EQ(seen.size(), 4u);
  while (const auto result = denoiser->drain()) expect_frame(*result, out++);
  EXPECT_EQ(seen, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6}));
}

/// Returns every second frame without samples, like a denoiser in a resumed job in which these
/// frames are already finished.
class EverySecond final : public Denoiser {
 public:
  int latency() const noexcept override { return 0; }
  std::optional<Frame> push(Frame frame) override {
    if (frame.side_data->number % 2 == 1) frame.pixels.reset();
    return frame;
  }
  std::optional<Frame> drain() override { return std::nullopt; }
};

TEST(ObservedDenoiser, PassesFramesWithoutSamplesOnRequest) {
  for (const ObservedFrames which : {ObservedFrames::with_samples, ObservedFrames::all}) {
    int shown = 0;
    const auto denoiser = observed(
        std::make_unique<EverySecond>(), [&](const Frame&, const Frame&) { ++shown; }, which);
    for (int i = 0; i < 6; ++i) EXPECT_TRUE(denoiser->push(make_frame(i)));
    EXPECT_EQ(shown, which == ObservedFrames::all ? 6 : 3);
  }
}

TEST(ObservedDenoiser, RejectsFramesInGpuMemory) {
  const auto denoiser = observed(std::make_unique<FakeDenoiser>(), [](const auto&, const auto&) {});
  Frame frame = make_frame(0);
  frame.on_device = std::make_shared<DevicePicture>();
  EXPECT_THROW((void)denoiser->push(frame), InvalidArgument);
}

TEST(ObservedDenoiser, ObserversGetResultsInTheSamplesOfTheInput) {
  FramePool precise(result_format(tiny, {.bits = 16, .full_range = true}));
  const Frame noisy = make_frame(7), result = copied(noisy, precise);
  int shown = 0;
  const Observer observer = in_input_samples([&](const Frame& a, const Frame& b) {
    EXPECT_EQ(a.format, tiny);
    EXPECT_EQ(b.format, tiny);
    EXPECT_EQ(b.pts, noisy.pts);
    for (int y = 0; y < 2; ++y)
      for (int x = 0; x < 2; ++x)
        EXPECT_EQ(a.plane<std::uint8_t>(0)(x, y), b.plane<std::uint8_t>(0)(x, y));
    ++shown;
  });
  observer(noisy, result);
  observer(noisy, noisy);
  EXPECT_EQ(shown, 2);
}

}  // namespace
}  // namespace lull::pipeline
