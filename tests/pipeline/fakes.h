#pragma once
// Sources, denoisers and sinks for tests. They only count frames, and fail on request.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "core/denoiser.h"
#include "core/stream.h"

namespace lull {

struct SideData {  // io defines its own type; the fakes only compare addresses
  std::int64_t number = 0;
};

namespace pipeline {

inline constexpr FrameFormat tiny{.width = 2, .height = 2};

/// Frame `number` with timestamps and side data that distinguish it from all others.
inline Frame make_frame(std::int64_t number) {
  Frame frame;
  frame.format = tiny;
  frame.pts = 1000 + 7 * number;
  frame.duration = 7;
  frame.time_base = {1, 90000};
  frame.pixels = std::shared_ptr<std::byte[]>(new std::byte[4]);
  frame.planes[0] = {frame.pixels.get(), 2, 2, 2};
  for (int i = 0; i < 4; ++i) frame.pixels[i] = static_cast<std::byte>(number + i);
  frame.side_data = std::make_shared<SideData>(SideData{number});
  return frame;
}

inline void expect_frame(const Frame& frame, std::int64_t number) {
  EXPECT_EQ(frame.pts, 1000 + 7 * number);
  EXPECT_EQ(frame.duration, 7);
  EXPECT_EQ(frame.time_base, (Rational{1, 90000}));
  ASSERT_TRUE(frame.side_data);
  EXPECT_EQ(frame.side_data->number, number);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(frame.pixels[i], static_cast<std::byte>(number + i + 100));
}

struct FakeSource final : FrameSource {
  std::int64_t frames = 0;
  std::function<void(std::int64_t)> before = [](std::int64_t) {};
  FrameFormat now = tiny;
  std::atomic<std::int64_t> given = 0;
  std::atomic<bool> interrupted = false;

  explicit FakeSource(std::int64_t count) : frames(count) {}
  void interrupt() noexcept override { interrupted = true; }
  const FrameFormat& format() const noexcept override { return now; }
  std::optional<Frame> read() override {
    before(given);
    if (given == frames) return std::nullopt;
    return make_frame(given++);
  }
};

/// Adds 100 to each sample and returns a frame after `delay` further pushes.
struct FakeDenoiser final : Denoiser {
  int delay = 0;
  std::function<void(std::int64_t)> before_push = [](std::int64_t) {};
  std::function<void()> before_drain = [] {};
  std::deque<Frame> held;
  std::atomic<std::int64_t> taken = 0;

  explicit FakeDenoiser(int frames = 0) : delay(frames) {}
  int latency() const noexcept override { return delay; }
  std::optional<Frame> push(Frame noisy) override {
    before_push(taken++);
    held.push_back(std::move(noisy));
    if (static_cast<int>(held.size()) <= delay) return std::nullopt;
    return oldest();
  }
  std::optional<Frame> drain() override {
    before_drain();
    if (held.empty()) return std::nullopt;
    return oldest();
  }

 private:
  Frame oldest() {
    Frame frame = std::move(held.front());
    held.pop_front();
    Frame result = make_frame(0);
    for (int i = 0; i < 4; ++i)
      result.pixels[i] = static_cast<std::byte>(static_cast<int>(frame.pixels[i]) + 100);
    result.copy_info(frame);
    return result;
  }
};

struct FakeSink final : FrameSink {
  std::function<void(std::int64_t)> before = [](std::int64_t) {};
  std::function<void()> before_finish = [] {};
  std::vector<Frame> frames;
  std::atomic<std::int64_t> written = 0;
  bool finished = false;

  void write(Frame frame) override {
    before(written);
    frames.push_back(std::move(frame));
    ++written;
  }
  void finish() override {
    before_finish();
    finished = true;
  }
};

inline void sleep_ms(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

/// Waits until `holds()` returns true. The time limit is for conditions that never hold, not for
/// late ones.
template <class Condition>
void wait_until(const Condition& holds) {
  for (int ms = 0; ms < 120'000 && !holds(); ++ms) sleep_ms(1);
}

struct TestError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace pipeline
}  // namespace lull
