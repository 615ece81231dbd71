// Tests when a session processes its frames, for all relations between frames and all latencies of
// a backend. The backend of this test does not filter: it only checks the order of calls.

#include "time/frame_session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <random>
#include <set>
#include <vector>

#include "core/frame_pool.h"

namespace lull {
namespace {

constexpr FrameFormat format{.width = 64, .height = 64};

/// The relations between frames are random. A result contains the number of its frame in the first
/// sample, and it is ready when its second sample is 1.
class Counting final : public FrameWorker {
 public:
  Counting(int slots, int in_flight, std::uint32_t seed)
      : states_(slots, State::free), numbers_(slots), in_flight_(in_flight), rng_(seed) {}

  void take(const Frame& frame) override { taken_ = frame.pts; }
  FrameDifference difference() override {
    FrameDifference d;
    const auto kind = rng_() % 6;
    d.identical = kind == 0;
    d.different[0] = kind == 1 ? 0 : 1;
    d.textured = 10;
    d.shared = kind == 2 ? 9 : 0;
    return d;
  }
  void load(int slot) override {
    EXPECT_EQ(states_[slot], State::free);
    states_[slot] = State::noisy;
    numbers_[slot] = taken_;
  }
  PredictionCost prediction(int slot, int earlier) override {
    EXPECT_NE(states_[slot], State::free);
    EXPECT_NE(states_[earlier], State::free);
    if (rng_() % 4 > 0) return {};
    return {.predicted = 1000000, .own = 1000000, .blocks = 1};
  }
  void filter(Phase phase, std::span<const SlotFrame> frames) override {
    EXPECT_LE(frames.size(), 1 + 2 * static_cast<std::size_t>(max_temporal));
    std::set<int> slots;
    for (const auto& [offset, slot] : frames) {
      EXPECT_TRUE(slots.insert(slot).second);
      EXPECT_LE(std::abs(offset), max_temporal);
      EXPECT_EQ(states_[slot], state_before(phase));
    }
  }
  void finish_phase(Phase phase, int slot) override {
    EXPECT_EQ(states_[slot], state_before(phase));
    states_[slot] = phase == Phase::first ? State::basic : State::better;
  }
  Frame finish(int slot) override {
    states_[slot] = State::free;
    Frame frame = pool_.acquire();
    frame.pixels[0] = static_cast<std::byte>(numbers_[slot]);
    frame.pixels[1] = std::byte{0};
    late_.push_back(frame);
    EXPECT_LE(late_.size(), static_cast<std::size_t>(in_flight_) + 1 + unread_);
    return frame;
  }
  int in_flight() const noexcept override { return in_flight_; }
  void await() override {
    ASSERT_FALSE(late_.empty());
    late_.front().pixels[1] = std::byte{1};
    late_.pop_front();
  }
  /// Returns the number of results that may wait if the caller never calls next().
  void expect_unread(int most) { unread_ = most; }
  bool has_late_ones() const { return !late_.empty(); }

 private:
  enum class State { free, noisy, basic, better };
  static State state_before(Phase phase) {
    return phase == Phase::first    ? State::noisy
           : phase == Phase::second ? State::basic
                                    : State::better;
  }
  std::vector<State> states_;
  std::vector<std::int64_t> numbers_;  // numbers of the frames in the slots
  std::int64_t taken_ = 0;
  int in_flight_, unread_ = 0;
  std::deque<Frame> late_;
  FramePool pool_{format};
  std::mt19937 rng_;
};

TEST(FrameSession, DeliversEveryFrameForRandomRelationsAndLatencies) {
  std::mt19937 rng{3};
  for (std::uint32_t round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    const SessionPlan plan{.radius = 1 + static_cast<int>(rng() % 4),
                           .phases = 1 + static_cast<int>(rng() % 3),
                           .main_sigma = 20,
                           .looks_back = rng() % 2 == 0};
    auto worker = std::make_unique<Counting>(plan.slots(), static_cast<int>(rng() % 4), round);
    Counting& backend = *worker;
    const bool asks_for_next = rng() % 3 > 0;
    if (!asks_for_next) backend.expect_unread(1000);
    const auto session = open_session(plan, format, std::move(worker));
    FramePool pool(format);
    for (int clip = 0; clip < 2; ++clip) {
      std::int64_t out = 0;
      const auto take = [&](const Frame& frame) {
        EXPECT_EQ(frame.pts, out++);
        EXPECT_LE(std::to_integer<int>(frame.pixels[0]), frame.pts) << "a repetition's is earlier";
        EXPECT_EQ(frame.pixels[1], std::byte{1}) << "it was not waited for";
      };
      const std::int64_t count = rng() % 120;
      for (std::int64_t n = 0; n < count; ++n) {
        Frame frame = pool.acquire();
        frame.pts = n;
        auto ready = session->push(std::move(frame));
        if (ready) take(*ready);
        while (ready && asks_for_next)
          if ((ready = session->next())) take(*ready);
      }
      while (const auto ready = session->drain()) take(*ready);
      EXPECT_EQ(out, count);
      EXPECT_FALSE(backend.has_late_ones());
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace lull
