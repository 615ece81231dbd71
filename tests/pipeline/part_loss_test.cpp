// Tests parts of a clip whose session fails: another session or a replacement filters the part.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <random>
#include <set>

#include "core/error.h"
#include "pipeline/part_fakes.h"
#include "pipeline/part_scheduler.h"
#include "pipeline/run.h"

namespace lull::pipeline {
namespace {

using testing::ElementsAre;

TEST(PartFailover, AnotherSessionTakesOverThePart) {
  for (const int at : {0, 1, 5, 12, 13})
    for (const int delay : {0, 1}) {
      std::mutex mutex;
      std::vector<std::size_t> told;
      std::atomic<bool> failed = false;
      auto members =
          team({{.margin = {2, 2}, .waits = &failed},
                {.margin = {2, 2}, .delay_ms = delay, .fails_at = at, .failed = &failed}});
      const auto scheduler =
          shard_parts(std::move(members),
                      {.margin = {2, 2},
                       .frames = 6,
                       .shard = {.on_session_lost = [&](std::size_t index, const auto&, auto left) {
                         const std::lock_guard lock(mutex);
                         EXPECT_EQ(index, 1u);
                         told.push_back(left);
                       }}});
      expect_equal(filter(*scheduler, 120), single_session_result({2, 2}, 120, {}));
      EXPECT_THAT(told, ElementsAre(1u));
    }
}

// The remaining session works on a later part and waits for its frames.
TEST(PartFailover, OldestPartIsTakenOverWhileTheOtherWaits) {
  const auto scheduler = shard_parts(team({{.margin = {2, 2}, .delay_ms = 2, .fails_at = 9},
                                           {.margin = {2, 2}, .delay_ms = 2, .fails_at = 9},
                                           {.margin = {2, 2}}}),
                                     {.margin = {2, 2}, .frames = 10});
  expect_equal(filter(*scheduler, 150), single_session_result({2, 2}, 150, {}));
}

TEST(PartFailover, FailureInDrainIsHandled) {
  const auto scheduler = shard_parts(
      team({{.margin = {2, 2}, .fails_in_drain = true}, {.margin = {2, 2}, .delay_ms = 1}}),
      {.margin = {2, 2}, .frames = 6});
  expect_equal(filter(*scheduler, 50), single_session_result({2, 2}, 50, {}));
}

TEST(PartFailover, JobEndsWhenEverySessionFailed) {
  const auto scheduler =
      shard_parts(team({{.margin = {1, 1}, .fails_at = 3}, {.margin = {1, 1}, .fails_at = 8}}),
                  {.margin = {1, 1}, .frames = 4});
  FakeSource source(1000);
  FakeSink sink;
  EXPECT_THROW(run(source, *scheduler, sink), DeviceFailure);
  EXPECT_FALSE(sink.finished);
}

TEST(PartFailover, ReplacementTakesOverWhenEverySessionFailed) {
  for (const int at : {0, 3, 30}) {
    const auto scheduler = shard_parts(
        team({{.margin = {1, 1}, .fails_at = at}}),
        {.margin = {1, 1},
         .frames = 5,
         .shard = {.replace = [](const DeviceFailure& why) {
           EXPECT_STREQ(why.what(), "a device failed");
           return std::make_unique<DigestDenoiser>(DigestDenoiser::Options{.margin = {1, 1}});
         }}});
    expect_equal(filter(*scheduler, 60), single_session_result({1, 1}, 60, {}));
  }
}

// The behaviour of each session and the repeated frames are random; one session survives.
TEST(PartFailover, RandomFailuresGiveTheSingleSessionResult) {
  std::mt19937 rng{11};
  const auto any = [&](int below) { return static_cast<int>(rng() % below); };
  for (int round = 0; round < 80; ++round) {
    const Margin margin{any(5), any(5)};
    const int frames = any(120);
    std::vector<DigestDenoiser::Options> members(1 + any(4));
    for (auto& member : members) member = {margin, any(2), any(2) ? any(50) : -1, any(4) == 0};
    members[any(static_cast<int>(members.size()))] = {margin, any(2)};
    std::set<std::int64_t> repetitions;
    const int some = 1 + any(6);
    for (int i = 1; i < frames; ++i)
      if (any(some) > 0) repetitions.insert(i);
    const auto scheduler =
        shard_parts(team(members), {.margin = margin,
                                    .frames = 1 + any(any(2) ? 20 : 120),
                                    .repeats = std::make_unique<KnownRepeats>(repetitions)});
    expect_equal(filter(*scheduler, frames), single_session_result(margin, frames, repetitions));
    if (HasFailure()) FAIL() << "round " << round;
  }
}

}  // namespace
}  // namespace lull::pipeline
