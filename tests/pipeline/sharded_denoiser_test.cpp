#include "pipeline/sharded_denoiser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "core/error.h"
#include "pipeline/fakes.h"
#include "pipeline/run.h"

namespace lull::pipeline {
namespace {

struct SessionTeam {
  std::vector<FakeDenoiser*> members;
  std::unique_ptr<Denoiser> denoiser;
};

/// Sessions with these latencies; session i waits delays_ms[i] for each frame.
SessionTeam make_team(const std::vector<int>& latencies, const std::vector<int>& delays_ms) {
  SessionTeam team;
  std::vector<std::unique_ptr<Denoiser>> sessions;
  for (std::size_t i = 0; i < latencies.size(); ++i) {
    auto session = std::make_unique<FakeDenoiser>(latencies[i]);
    session->before_push = [delay = delays_ms[i]](std::int64_t) { sleep_ms(delay); };
    team.members.push_back(session.get());
    sessions.push_back(std::move(session));
  }
  team.denoiser = shard(std::move(sessions));
  return team;
}

struct Case {
  std::vector<int> latencies, delays_ms;
  std::int64_t frames;
};

class Sharded : public testing::TestWithParam<Case> {};

TEST_P(Sharded, ReturnsResultsInOrder) {
  SessionTeam team = make_team(GetParam().latencies, GetParam().delays_ms);
  FakeSource source(GetParam().frames);
  FakeSink sink;
  run(source, *team.denoiser, sink);
  ASSERT_EQ(static_cast<std::int64_t>(sink.frames.size()), GetParam().frames);
  for (std::int64_t i = 0; i < GetParam().frames; ++i) expect_frame(sink.frames[i], i);
  std::int64_t taken = 0;
  for (const FakeDenoiser* member : team.members) taken += member->taken;
  EXPECT_EQ(taken, GetParam().frames);
}

INSTANTIATE_TEST_SUITE_P(Teams, Sharded,
                         testing::Values(Case{{0}, {0}, 20}, Case{{0, 0}, {0, 0}, 200},
                                         Case{{1, 1}, {0, 0}, 200},
                                         Case{{2, 2, 2, 2}, {1, 1, 1, 1}, 200},
                                         Case{{0, 3}, {0, 3}, 60}, Case{{5, 0, 1}, {2, 0, 5}, 60},
                                         Case{{2, 2}, {0, 20}, 40}, Case{{2, 2, 2}, {0, 0, 0}, 1},
                                         Case{{2, 2, 2}, {0, 0, 0}, 2}, Case{{8, 8}, {0, 0}, 5}));

TEST(Sharded, SlowInputDoesNotHang) {
  // Sessions hold their last frames until they get more frames, so the scheduler must push to the
  // right session.
  SessionTeam team = make_team({3, 1, 0, 2}, {0, 4, 1, 0});
  std::int64_t out = 0;
  for (std::int64_t i = 0; i < 60; ++i) {
    sleep_ms(1);
    if (const auto frame = team.denoiser->push(make_frame(i))) expect_frame(*frame, out++);
  }
  while (const auto frame = team.denoiser->drain()) expect_frame(*frame, out++);
  EXPECT_EQ(out, 60);
  EXPECT_EQ(team.denoiser->drain(), std::nullopt);
}

TEST(Sharded, LimitsFramesInFlight) {
  SessionTeam team = make_team({2, 1, 4}, {0, 3, 0});
  const int latency = team.denoiser->latency();
  EXPECT_GE(latency, 7);
  EXPECT_LE(latency, 7 + 3 * 4);
  std::int64_t in = 0, out = 0;
  for (; in < 100; ++in) {
    if (team.denoiser->push(make_frame(in))) ++out;
    ASSERT_LE(in + 1 - out, latency);
  }
  while (team.denoiser->drain()) ++out;
  EXPECT_EQ(in, out);
}

// A session with temporal filtering may hold hundreds of frames of a still.
TEST(Sharded, RepeatedFramesShareSamples) {
  struct Still final : RepeatFinder {
    bool begun = false;
    RepeatState find(const Frame&) override {
      return std::exchange(begun, true) ? RepeatState::repeats : RepeatState::independent;
    }
    void clear() override { begun = false; }
  };
  std::vector<std::unique_ptr<Denoiser>> one;
  one.push_back(std::make_unique<FakeDenoiser>(50));
  const auto denoiser = shard(std::move(one), {}, std::make_unique<Still>());
  std::vector<std::weak_ptr<std::byte[]>> pixels;
  for (int i = 0; i < 80; ++i) {
    Frame frame = make_frame(i);
    pixels.emplace_back(frame.pixels);
    (void)denoiser->push(std::move(frame));
  }
  EXPECT_EQ(std::ranges::count_if(pixels, [](const auto& p) { return !p.expired(); }), 1);
  while (denoiser->drain()) {
  }
}

TEST(Sharded, FastDeviceProcessesMoreFrames) {
  SessionTeam team = make_team({1, 1}, {1, 8});
  FakeSource source(100);
  FakeSink sink;
  run(source, *team.denoiser, sink);
  EXPECT_GT(team.members[0]->taken, 2 * team.members[1]->taken);
  EXPECT_GE(team.members[1]->taken, 2);
}

TEST(Sharded, ErrorOfOneSessionIsReported) {
  for (const std::int64_t at : {0, 1, 10}) {
    SessionTeam team = make_team({1, 1, 1}, {0, 0, 0});
    team.members[1]->before_push = [at](std::int64_t n) {
      if (n == at) throw TestError("device lost");
    };
    FakeSource source(-1);
    FakeSink sink;
    EXPECT_THROW(run(source, *team.denoiser, sink), TestError);
    EXPECT_FALSE(sink.finished);
    EXPECT_THROW((void)team.denoiser->drain(), TestError);
  }
}

TEST(Sharded, ErrorInDrainIsReported) {
  SessionTeam team = make_team({1, 1}, {0, 0});
  team.members[0]->before_drain = [] { throw TestError("device lost"); };
  FakeSource source(9);
  FakeSink sink;
  EXPECT_THROW(run(source, *team.denoiser, sink), TestError);
  EXPECT_FALSE(sink.finished);
}

TEST(Sharded, SessionThatLosesAFrameIsAnInternalError) {
  SessionTeam team = make_team({2, 2}, {0, 0});
  team.members[1]->before_drain = [&] { team.members[1]->held.clear(); };
  FakeSource source(9);
  FakeSink sink;
  EXPECT_THROW(run(source, *team.denoiser, sink), InternalError);
}

TEST(Sharded, CanBeDestroyedWithFramesInFlight) {
  SessionTeam team = make_team({2, 2}, {1, 1});
  for (int i = 0; i < 6; ++i) (void)team.denoiser->push(make_frame(i));
  team.denoiser.reset();
}

TEST(Sharded, StopsWhileSessionsWork) {
  SessionTeam team = make_team({1, 1}, {2, 3});
  FakeSource source(-1);
  FakeSink sink;
  std::stop_source stop;
  sink.before = [&](std::int64_t n) {
    if (n == 10) stop.request_stop();
  };
  EXPECT_TRUE(run(source, *team.denoiser, sink, {}, stop.get_token()).cancelled);
}

TEST(Sharded, NeedsASession) { EXPECT_THROW((void)shard({}), InvalidArgument); }

TEST(Sharded, RejectsFramesDuringDrain) {
  SessionTeam team = make_team({0, 0}, {0, 0});
  for (int i = 0; i < 3; ++i) (void)team.denoiser->push(make_frame(i));
  EXPECT_TRUE(team.denoiser->drain());
  EXPECT_THROW((void)team.denoiser->push(make_frame(3)), InternalError);
}

TEST(Sharded, AcceptsAnotherClipAfterDrain) {
  SessionTeam team = make_team({2, 0, 1}, {0, 1, 0});
  for (int clip = 0; clip < 20; ++clip) {
    std::int64_t out = 0;
    for (int i = 0; i < clip; ++i)
      if (const auto frame = team.denoiser->push(make_frame(i))) expect_frame(*frame, out++);
    while (const auto frame = team.denoiser->drain()) expect_frame(*frame, out++);
    EXPECT_EQ(out, clip);
  }
}

}  // namespace
}  // namespace lull::pipeline
