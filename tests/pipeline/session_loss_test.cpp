// Tests sessions that fail during a clip: their frames go to the other sessions, in order, and no
// frame is delivered twice.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <random>
#include <string>

#include "core/error.h"
#include "pipeline/fakes.h"
#include "pipeline/run.h"
#include "pipeline/sharded_denoiser.h"

namespace lull::pipeline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Le;
using testing::MatchesRegex;
using testing::SizeIs;

constexpr int never = -1;

/// Behaviour of one session.
struct SessionBehaviour {
  int latency = 1;
  int delay_ms = 0;
  std::int64_t fails_at = never;  // the push that throws, from 0
  bool fails_in_drain = false;
  bool after_push = false;  // it has taken the frame when it throws
  // Waits until the failing sessions have failed, so that they get their frames.
  bool waits = false;
};

constexpr SessionBehaviour waiting_session(int latency, int delay_ms = 0) {
  return {.latency = latency, .delay_ms = delay_ms, .waits = true};
}

struct Count {
  std::atomic<int> alive = 0;
  std::atomic<int> to_fail = 0;  // in a push
};

/// A fake denoiser that keeps failing after its first failure.
class FailingDenoiser final : public Denoiser {
 public:
  FailingDenoiser(const SessionBehaviour& member, int index, Count& count)
      : member_(member), index_(index), count_(count), inner_(member.latency) {
    ++count_.alive;
    if (member.fails_at != never) ++count_.to_fail;
  }
  ~FailingDenoiser() override { --count_.alive; }
  int latency() const noexcept override { return inner_.latency(); }
  std::optional<Frame> push(Frame noisy) override {
    sleep_ms(member_.delay_ms);
    wait_until([&] { return !member_.waits || count_.to_fail <= 0; });
    const bool fails = pushes_++ == member_.fails_at;
    if (fails && !member_.after_push) die();
    std::optional<Frame> ready = inner_.push(std::move(noisy));
    if (fails) die();
    EXPECT_FALSE(dead_) << "used after it failed";
    return ready;
  }
  std::optional<Frame> drain() override {
    EXPECT_FALSE(dead_) << "used after it failed";
    if (member_.fails_in_drain) die();
    return inner_.drain();
  }

 private:
  [[noreturn]] void die() {
    dead_ = true;
    if (member_.fails_at != never) --count_.to_fail;
    throw DeviceFailure("device " + std::to_string(index_) + " failed");
  }
  const SessionBehaviour member_;
  const int index_;
  Count& count_;
  FakeDenoiser inner_;
  std::int64_t pushes_ = 0;
  bool dead_ = false;
};

class SessionTeam {
 public:
  explicit SessionTeam(const std::vector<SessionBehaviour>& members,
                       std::optional<SessionBehaviour> replacement = {}) {
    ShardOptions options;
    options.on_session_lost = [this](std::size_t index, const DeviceFailure& why,
                                     std::size_t left) {
      const std::lock_guard lock(mutex_);
      lost_.push_back(std::to_string(index) + ": " + why.what() + ", " + std::to_string(left));
    };
    if (replacement)
      options.replace = [this, replacement, alone = members.size() == 1](const DeviceFailure& why) {
        if (alone) {
          EXPECT_EQ(count_.alive, 0) << "the lost session's memory is taken still";
        }
        replaced_ = why.what();
        return std::make_unique<FailingDenoiser>(*replacement, 99, count_);
      };
    std::vector<std::unique_ptr<Denoiser>> sessions;
    for (std::size_t i = 0; i < members.size(); ++i)
      sessions.push_back(
          std::make_unique<FailingDenoiser>(members[i], static_cast<int>(i), count_));
    denoiser_ = shard(std::move(sessions), std::move(options));
  }
  /// Filters `frames` frames. All results must arrive, in order.
  void filter(std::int64_t frames) {
    FakeSource source(frames);
    FakeSink sink;
    run(source, *denoiser_, sink);
    EXPECT_TRUE(sink.finished);
    ASSERT_EQ(static_cast<std::int64_t>(sink.frames.size()), frames);
    for (std::int64_t i = 0; i < frames; ++i) expect_frame(sink.frames[i], i);
  }
  /// Returns the message of the failure with which the job ends.
  std::string fail(std::int64_t frames) {
    FakeSource source(frames);
    FakeSink sink;
    try {
      run(source, *denoiser_, sink);
    } catch (const DeviceFailure& failure) {
      EXPECT_FALSE(sink.finished);
      return failure.what();
    }
    return "no failure";
  }
  Denoiser& denoiser() { return *denoiser_; }
  int alive() const { return count_.alive; }
  std::string replaced() const { return replaced_; }
  std::vector<std::string> lost() const {
    const std::lock_guard lock(mutex_);
    return lost_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lost_;
  std::string replaced_;
  Count count_;
  std::unique_ptr<Denoiser> denoiser_;  // last, because its threads use the other members
};

TEST(SessionFailover, FailureInPushIsHandled) {
  for (const std::int64_t at : {0, 1, 2, 7})
    for (const int latency : {0, 1, 4})
      for (const bool after : {false, true}) {
        SessionTeam team({waiting_session(latency),
                          {latency, 0, at, false, after},
                          waiting_session(latency, 1)});
        team.filter(60);
        EXPECT_THAT(team.lost(), ElementsAre("1: device 1 failed, 2"))
            << at << ", latency " << latency;
        wait_until([&] { return team.alive() <= 2; });
        EXPECT_EQ(team.alive(), 2) << "the lost session keeps its memory";
      }
}

TEST(SessionFailover, FailureInDrainIsHandled) {
  for (const int latency : {2, 5}) {
    // The other session is drained before or after the failure and must accept frames again.
    for (const int delay : {0, 5}) {
      SessionTeam team({{latency, delay}, {latency, 1, never, true}});
      team.filter(20);
      EXPECT_THAT(team.lost(), ElementsAre("1: device 1 failed, 1"));
    }
  }
}

TEST(SessionFailover, SurvivesTwoFailuresOfThree) {
  SessionTeam team({{3, 0, 4}, waiting_session(2), {3, 0, 6}});
  team.filter(80);
  EXPECT_THAT(team.lost(), SizeIs(2));
  SessionTeam at_once({{3, 0, 0}, {2, 1}, {3, 0, 0}});
  at_once.filter(80);
  EXPECT_THAT(at_once.lost(), SizeIs(2));
}

TEST(SessionFailover, FailureWhileTheOthersAreFullIsHandled) {
  // The slow session holds the oldest frames. The other sessions are ahead by the maximum number of
  // frames.
  SessionTeam team({{4, 0}, {4, 60, 5}, {4, 0}});
  team.filter(60);
  EXPECT_THAT(team.lost(), ElementsAre("1: device 1 failed, 2"));
}

TEST(SessionFailover, JobEndsWhenEverySessionFailed) {
  SessionTeam team({{2, 0, 3}, {2, 1, 3}, {2, 0, 5}});
  EXPECT_THAT(team.fail(1000), MatchesRegex("device [0-2] failed"));
  EXPECT_THAT(team.lost(), SizeIs(Le(2u)));
  EXPECT_THROW((void)team.denoiser().drain(), DeviceFailure) << "it stays so";
  SessionTeam in_drain({{2, 0, never, true}});
  EXPECT_EQ(in_drain.fail(9), "device 0 failed");
  // All sessions fail at once: no session continues, and no other message is reported.
  SessionTeam at_once({{2, 0, 0}, {2, 0, 0}, {2, 0, 0}});
  EXPECT_THAT(at_once.fail(9), MatchesRegex("device [0-2] failed"));
  EXPECT_THAT(at_once.lost(), IsEmpty());
}

TEST(SessionFailover, ReplacementTakesOverWhenEverySessionFailed) {
  for (const SessionBehaviour& replacement :
       {SessionBehaviour{0}, SessionBehaviour{3}, SessionBehaviour{1, 1}}) {
    SessionTeam alone({{4, 0, 7}}, replacement);
    alone.filter(40);
    EXPECT_EQ(alone.replaced(), "device 0 failed");
    EXPECT_THAT(alone.lost(), IsEmpty());
    SessionTeam last({{4, 0, never, true}}, replacement);
    last.filter(9);
    EXPECT_EQ(last.replaced(), "device 0 failed");
  }
}

TEST(SessionFailover, MissingReplacementIsAnError) {
  std::vector<std::unique_ptr<Denoiser>> sessions;
  auto session = std::make_unique<FakeDenoiser>(1);
  session->before_push = [](std::int64_t) { throw DeviceFailure("gone"); };
  sessions.push_back(std::move(session));
  const auto denoiser =
      shard(std::move(sessions), {.replace = [](const DeviceFailure&) -> std::unique_ptr<Denoiser> {
              throw InvalidArgument("no CPU either");
            }});
  FakeSource source(5);
  FakeSink sink;
  EXPECT_THROW(run(source, *denoiser, sink), InvalidArgument);
}

TEST(SessionFailover, OtherErrorsEndTheJob) {
  std::vector<std::unique_ptr<Denoiser>> sessions;
  for (int i = 0; i < 2; ++i) sessions.push_back(std::make_unique<FakeDenoiser>(1));
  static_cast<FakeDenoiser&>(*sessions[1]).before_push = [](std::int64_t n) {
    if (n == 3) throw BadData("this frame is none");
  };
  const auto denoiser = shard(std::move(sessions), {.on_session_lost = [](auto, const auto&, auto) {
                                FAIL() << "that was no fault of a device";
                              }});
  FakeSource source(-1);
  FakeSink sink;
  EXPECT_THROW(run(source, *denoiser, sink), BadData);
}

TEST(SessionFailover, FramesInGpuMemoryAreNotMoved) {
  SessionTeam team({{1, 0, 3}, waiting_session(1)}, SessionBehaviour{0});
  FakeSink sink;
  const auto all = [&] {
    for (std::int64_t i = 0; i < 30; ++i) {
      Frame frame = make_frame(i);
      frame.on_device = std::make_shared<DevicePicture>();
      if (auto ready = team.denoiser().push(std::move(frame))) sink.write(*std::move(ready));
    }
    while (auto ready = team.denoiser().drain()) sink.write(*std::move(ready));
  };
  EXPECT_THROW(all(), DeviceFailure);
  EXPECT_THAT(team.lost(), IsEmpty());
  EXPECT_EQ(team.replaced(), "");
}

TEST(SessionFailover, ReassignedFramesShareTheirSamples) {
  // Frames that are assigned twice share one buffer: nothing is copied, and the buffer is released
  // when the result has been returned.
  SessionTeam team({{2, 0, 1}, {0}});
  std::weak_ptr<std::byte[]> pixels;
  std::int64_t out = 0;
  for (std::int64_t i = 0; i < 30; ++i) {
    Frame frame = make_frame(i);
    if (i == 0) pixels = frame.pixels;
    if (team.denoiser().push(std::move(frame))) ++out;
  }
  while (team.denoiser().drain()) ++out;
  EXPECT_EQ(out, 30);
  wait_until([&] { return pixels.expired(); });  // the failed session is destroyed late
  EXPECT_TRUE(pixels.expired());
}

TEST(SessionFailover, CanBeDestroyedWithFramesInFlight) {
  for (int frames = 0; frames < 12; ++frames) {
    SessionTeam team({{2, 1, 2}, {2, 2, 1}, {2, 1}});
    for (int i = 0; i < frames; ++i) (void)team.denoiser().push(make_frame(i));
  }
}

// Many teams in which the behaviour of each session is random; at least one survives.
TEST(SessionFailover, RandomFailuresLoseNoFrame) {
  std::mt19937 rng{5};
  const auto any = [&](int below) { return static_cast<int>(rng() % below); };
  for (int round = 0; round < 60; ++round) {
    std::vector<SessionBehaviour> members(1 + any(4));
    for (SessionBehaviour& member : members)
      member = {any(5), any(2), any(2) ? any(20) : never, any(3) == 0, any(2) == 0};
    const bool replaced = any(2) == 0;
    if (!replaced) members[any(static_cast<int>(members.size()))] = {any(4), any(3)};
    SessionTeam team(members,
                     replaced ? std::optional(SessionBehaviour{any(4), any(2)}) : std::nullopt);
    team.filter(any(70) + 1);
    if (HasFailure()) FAIL() << "round " << round;
  }
}

}  // namespace
}  // namespace lull::pipeline
