#pragma once
// Sessions for parts of a clip whose results reveal the frames that they used, and the result of a
// single session for the complete clip.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/repeats.h"
#include "pipeline/fakes.h"

namespace lull::pipeline {

/// Frames in the set repeat the previous frame; the others are independent.
class KnownRepeats final : public RepeatFinder {
 public:
  explicit KnownRepeats(std::set<std::int64_t> repetitions)
      : repetitions_(std::move(repetitions)) {}
  RepeatState find(const Frame&) override {
    return repetitions_.contains(next_++) ? RepeatState::repeats : RepeatState::independent;
  }
  void clear() override { next_ = 0; }

 private:
  std::set<std::int64_t> repetitions_;
  std::int64_t next_ = 0;
};

/// A temporal filter whose result is a digest of all distinct frames within its margin, each
/// represented by its first sample. Repeated frames get the result of the previous frame.
class DigestDenoiser final : public Denoiser {
 public:
  struct Options {
    Margin margin{};
    int delay_ms = 0;
    int fails_at = -1;  // the push that throws
    bool fails_in_drain = false;
    std::atomic<bool>* failed = nullptr;  // set when it fails
    std::atomic<bool>* waits = nullptr;   // waits for this flag, to leave parts to others
  };
  struct Seen {
    std::vector<std::int64_t> frames;
    std::vector<int> context_distance;
  };
  DigestDenoiser(Options options, std::vector<Seen>* seen = nullptr)
      : options_(options), seen_(seen) {}
  int latency() const noexcept override { return options_.margin.after; }
  std::optional<Frame> push(Frame frame) override {
    if (options_.delay_ms > 0) sleep_ms(options_.delay_ms);
    wait_until([&] { return !options_.waits || *options_.waits; });
    if (pushes_++ == options_.fails_at) {
      if (options_.failed) *options_.failed = true;
      throw DeviceFailure("a device failed");
    }
    EXPECT_NE(frame.repeat_state, RepeatState::unknown);
    if (frames_.empty()) {
      EXPECT_NE(frame.repeat_state, RepeatState::repeats) << "nothing to repeat";
      if (seen_) seen_->emplace_back();
    }
    if (seen_) {
      seen_->back().frames.push_back(frame.side_data->number);
      seen_->back().context_distance.push_back(frame.context_distance);
    }
    if (frame.repeat_state != RepeatState::repeats)
      distinct_.push_back(std::to_integer<int>(frame.pixels[0]));
    frames_.push_back({std::move(frame), distinct_.size() - 1});
    return oldest(options_.margin.after);
  }
  std::optional<Frame> drain() override {
    if (options_.fails_in_drain) throw DeviceFailure("a device failed");
    if (std::optional<Frame> frame = oldest(0)) return frame;
    distinct_.clear();
    frames_.clear();
    out_ = 0;
    return std::nullopt;
  }

 private:
  std::optional<Frame> oldest(std::size_t behind) {
    if (out_ == frames_.size() || frames_[out_].second + behind >= distinct_.size()) return {};
    const auto& [noisy, at] = frames_[out_++];
    Frame result = make_frame(0);
    const std::size_t before = options_.margin.before, after = options_.margin.after;
    unsigned digest = 1;
    for (std::size_t i = at > before ? at - before : 0; i <= at + after && i < distinct_.size();
         ++i)
      digest = digest * 31 + distinct_[i];
    for (int i = 0; i < 4; ++i) result.pixels[i] = static_cast<std::byte>(digest >> 8 * i);
    result.copy_info(noisy);
    return result;
  }

  const Options options_;
  std::vector<Seen>* seen_;
  std::vector<int> distinct_;
  // Each frame has the index of the distinct frame that it is or repeats.
  std::vector<std::pair<Frame, std::size_t>> frames_;
  std::size_t out_ = 0;
  int pushes_ = 0;
};

inline std::vector<std::unique_ptr<Denoiser>> team(
    const std::vector<DigestDenoiser::Options>& members) {
  std::vector<std::unique_ptr<Denoiser>> sessions;
  for (const DigestDenoiser::Options& member : members)
    sessions.push_back(std::make_unique<DigestDenoiser>(member));
  return sessions;
}

inline std::vector<Frame> filter(Denoiser& denoiser, std::int64_t frames) {
  std::vector<Frame> out;
  for (std::int64_t i = 0; i < frames; ++i)
    if (auto ready = denoiser.push(make_frame(i))) out.push_back(*std::move(ready));
  while (auto ready = denoiser.drain()) out.push_back(*std::move(ready));
  return out;
}

/// Returns the result of one session that receives all frames.
inline std::vector<Frame> single_session_result(const Margin& margin, std::int64_t frames,
                                                const std::set<std::int64_t>& repetitions) {
  DigestDenoiser session({.margin = margin});
  std::vector<Frame> out;
  for (std::int64_t i = 0; i < frames; ++i) {
    Frame frame = make_frame(i);
    frame.repeat_state = repetitions.contains(i) ? RepeatState::repeats : RepeatState::independent;
    if (auto ready = session.push(std::move(frame))) out.push_back(*std::move(ready));
  }
  while (auto ready = session.drain()) out.push_back(*std::move(ready));
  return out;
}

inline void expect_equal(const std::vector<Frame>& result, const std::vector<Frame>& expected) {
  ASSERT_EQ(result.size(), expected.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    EXPECT_EQ(result[i].pts, expected[i].pts);
    ASSERT_TRUE(result[i].side_data);
    EXPECT_EQ(result[i].side_data->number, static_cast<std::int64_t>(i));
    ASSERT_TRUE(std::equal(&result[i].pixels[0], &result[i].pixels[4], &expected[i].pixels[0]))
        << "frame " << i;
  }
}

}  // namespace lull::pipeline
