#include "pipeline/field_denoiser.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "pipeline/fakes.h"

namespace lull::pipeline {
namespace {

// Of frames of 2 by 2, fields of one row each; results come `delay` fields late.
class Inverter final : public Denoiser {
 public:
  explicit Inverter(int delay) : delay_(delay) {}
  int latency() const noexcept override { return delay_; }
  std::optional<Frame> push(Frame noisy) override {
    EXPECT_EQ(noisy.format, field_format(tiny));
    EXPECT_EQ(noisy.planes[0].height, 1);
    waiting_.push_back(std::move(noisy));
    return static_cast<int>(waiting_.size()) > delay_ ? next() : std::nullopt;
  }
  std::optional<Frame> drain() override { return waiting_.empty() ? std::nullopt : next(); }

 private:
  std::optional<Frame> next() {
    Frame from = std::move(waiting_.front());
    waiting_.pop_front();
    Frame to = from;
    to.pixels = std::shared_ptr<std::byte[]>(new std::byte[2]);
    to.planes[0] = {to.pixels.get(), 2, 1, 2};
    for (int x = 0; x < 2; ++x)
      to.pixels[x] = static_cast<std::byte>(std::to_integer<int>(from.planes[0].row(0)[x]) + 100);
    return to;
  }
  int delay_;
  std::deque<Frame> waiting_;
};

TEST(FieldDenoiser, WeavesWhatItTookApartWhateverTheSessionsDelay) {
  for (int delay = 0; delay <= 5; ++delay) {
    SCOPED_TRACE(delay);
    const auto denoiser = by_fields(tiny, std::make_unique<Inverter>(delay));
    std::int64_t out = 0;
    const auto expect_next = [&](const Frame& frame) {
      EXPECT_EQ(frame.format, tiny);
      for (int i = 0; i < 4; ++i)
        EXPECT_EQ(frame.planes[0].row(i / 2)[i % 2], static_cast<std::byte>(out + i + 100));
      EXPECT_EQ(frame.pts, 1000 + 7 * out);
      ASSERT_TRUE(frame.passenger);
      EXPECT_EQ(frame.passenger->number, out++);
    };
    for (std::int64_t in = 0; in < 7; ++in) {
      if (const auto frame = denoiser->push(make_frame(in))) expect_next(*frame);
      EXPECT_GE(out, in + 1 - denoiser->latency());
      EXPECT_LE(in + 1 - out, denoiser->latency());
    }
    while (const auto frame = denoiser->drain()) expect_next(*frame);
    EXPECT_EQ(out, 7);
  }
}

TEST(FieldDenoiser, FieldsMustBeEqual) {
  FrameFormat format{.width = 4, .height = 6, .layout = Layout::yuv};
  EXPECT_EQ(field_format(format).height, 3);
  format.chroma_shift_y = 1;
  EXPECT_THROW((void)field_format(format), InvalidArgument);
  format.height = 8;
  EXPECT_EQ(field_format(format).height, 4);
  format.layout = Layout::gray;
  format.chroma_shift_y = 0;
  format.height = 7;
  EXPECT_THROW((void)field_format(format), InvalidArgument);
}

TEST(FieldDenoiser, TakesNoFramesInTheMemoryOfAGpu) {
  const auto denoiser = by_fields(tiny, std::make_unique<Inverter>(0));
  Frame frame = make_frame(0);
  frame.on_device = std::make_shared<DevicePicture>();
  EXPECT_THROW((void)denoiser->push(std::move(frame)), InvalidArgument);
}

}  // namespace
}  // namespace lull::pipeline
