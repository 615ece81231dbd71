// Tests the scheduling of parts of a clip for several sessions: the frames that each session
// receives, and the order of the results.

#include "pipeline/part_scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "core/error.h"
#include "pipeline/part_fakes.h"
#include "pipeline/run.h"

namespace lull::pipeline {
namespace {

using testing::ElementsAre;

/// Several patterns of repeated frames among `frames` frames.
std::vector<std::set<std::int64_t>> repetitions_among(std::int64_t frames) {
  std::vector<std::set<std::int64_t>> all(4);
  for (std::int64_t i = 0; i < frames; ++i) {
    if (i % 2 == 1) all[1].insert(i);                            // every frame is doubled
    if (i > 10 && i < 50) all[2].insert(i);                      // a still section
    if (i > 0 && (i % 31 != 0 || i % 5 == 1)) all[3].insert(i);  // almost all frames are repeats
  }
  return all;
}

TEST(PartScheduler, MatchesASingleSession) {
  for (const std::int64_t frames : {0, 1, 2, 7, 61, 150})
    for (const auto& repetitions : repetitions_among(frames))
      for (const Margin margin : {Margin{0, 0}, {1, 1}, {5, 4}, {0, 2}})
        for (const int part : {1, 5, 40})
          for (const int sessions : {1, 2, 4}) {
            SCOPED_TRACE(testing::Message()
                         << frames << " frames, " << repetitions.size()
                         << " of them repetitions, margins " << margin.before << " and "
                         << margin.after << ", " << sessions << " sessions, parts of " << part);
            const auto scheduler = shard_parts(
                team(std::vector<DigestDenoiser::Options>(sessions, {.margin = margin})),
                {.margin = margin,
                 .frames = part,
                 .repeats = std::make_unique<KnownRepeats>(repetitions)});
            expect_equal(filter(*scheduler, frames),
                         single_session_result(margin, frames, repetitions));
            if (HasFatalFailure()) return;
          }
}

TEST(PartScheduler, SessionsGetMarginsWithoutRepeatedFrames) {
  std::vector<DigestDenoiser::Seen> seen;
  std::vector<std::unique_ptr<Denoiser>> one;
  one.push_back(std::make_unique<DigestDenoiser>(DigestDenoiser::Options{.margin = {2, 2}}, &seen));
  const auto scheduler = shard_parts(
      std::move(one),
      {.margin = {2, 2},
       .frames = 4,
       .repeats = std::make_unique<KnownRepeats>(std::set<std::int64_t>{1, 4, 5, 7, 9, 10, 11})});
  EXPECT_EQ(filter(*scheduler, 16).size(), 16u);
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_THAT(seen[0].frames, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 12));
  EXPECT_THAT(seen[0].context_distance, ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 1, 2));
  EXPECT_THAT(seen[1].frames, ElementsAre(3, 6, 8, 9, 10, 11, 12, 13, 14, 15));
  EXPECT_THAT(seen[1].context_distance, ElementsAre(-2, -1, 0, 0, 0, 0, 0, 0, 0, 1));
  EXPECT_THAT(seen[2].frames, ElementsAre(13, 14, 15));
  EXPECT_THAT(seen[2].context_distance, ElementsAre(-2, -1, 0));
}

// One part contains all frames, and there are two sessions: the second takes frames that the first
// has not begun.
TEST(PartScheduler, IdleSessionTakesHalfOfTheRemainingPart) {
  std::set<std::int64_t> repetitions;
  for (std::int64_t i = 30; i < 200; i += 7) repetitions.insert(i);
  std::array<std::vector<DigestDenoiser::Seen>, 2> seen;
  std::vector<std::unique_ptr<Denoiser>> sessions;
  for (auto& parts : seen)
    sessions.push_back(std::make_unique<DigestDenoiser>(
        DigestDenoiser::Options{.margin = {3, 2}, .delay_ms = 1}, &parts));
  const auto scheduler = shard_parts(
      std::move(sessions),
      {.margin = {3, 2}, .frames = 1000, .repeats = std::make_unique<KnownRepeats>(repetitions)});
  expect_equal(filter(*scheduler, 200), single_session_result({3, 2}, 200, repetitions));
  std::vector<std::int64_t> own;
  for (const auto& parts : seen) {
    EXPECT_GT(parts.size(), 0u) << "a session had nothing to do";
    for (const DigestDenoiser::Seen& part : parts) {
      const auto first =
          std::ranges::find(part.context_distance, 0) - part.context_distance.begin();
      EXPECT_EQ(first, part.frames[first] == 0 ? 0 : 3);
      for (std::size_t i = 0; i < part.frames.size(); ++i) {
        if (part.context_distance[i] == 0) own.push_back(part.frames[i]);
        if (i < static_cast<std::size_t>(first)) {
          EXPECT_EQ(part.context_distance[i], static_cast<int>(i) - 3);
        } else if (part.context_distance[i] > 0) {
          EXPECT_EQ(part.context_distance[i], std::max(part.context_distance[i - 1], 0) + 1);
          EXPECT_FALSE(repetitions.contains(part.frames[i]));
        }
      }
      // The end of the clip shortens the margin.
      EXPECT_TRUE(part.context_distance.back() == 2 || part.frames.back() == 199);
    }
  }
  std::ranges::sort(own);
  EXPECT_EQ(std::ranges::adjacent_find(own), own.end()) << "filtered by both";
  EXPECT_EQ(own.size(), 200u);
}

// The remaining frames are too few to justify the margins of an additional part.
TEST(PartScheduler, ShortRemaindersAreNotSplit) {
  std::array<std::vector<DigestDenoiser::Seen>, 2> seen;
  std::vector<std::unique_ptr<Denoiser>> sessions;
  for (auto& parts : seen)
    sessions.push_back(std::make_unique<DigestDenoiser>(
        DigestDenoiser::Options{.margin = {9, 8}, .delay_ms = 1}, &parts));
  const auto scheduler = shard_parts(std::move(sessions), {.margin = {9, 8}, .frames = 1000});
  expect_equal(filter(*scheduler, 14), single_session_result({9, 8}, 14, {}));
  EXPECT_EQ(seen[0].size() + seen[1].size(), 1u);
}

TEST(PartScheduler, AcceptsAnotherClipAfterDrain) {
  const auto scheduler =
      shard_parts(team({{.margin = {2, 2}}, {.margin = {2, 2}}}),
                  {.margin = {2, 2},
                   .frames = 6,
                   .repeats = std::make_unique<KnownRepeats>(std::set<std::int64_t>{3})});
  for (const std::int64_t frames : {40, 0, 5, 33})
    expect_equal(filter(*scheduler, frames), single_session_result({2, 2}, frames, {3}));
}

TEST(PartScheduler, LimitsFramesInFlight) {
  for (const int slow : {0, 1}) {  // index of the slow session
    std::vector<DigestDenoiser::Options> members(2, {.margin = {2, 2}});
    members[slow].delay_ms = 1;
    const auto scheduler = shard_parts(team(members), {.margin = {2, 2}, .frames = 10});
    EXPECT_EQ(scheduler->latency(), 30);
    std::int64_t out = 0;
    for (std::int64_t i = 0; i < 200; ++i) {
      if (scheduler->push(make_frame(i))) ++out;
      ASSERT_LE(i + 1 - out, scheduler->latency() + 1);
    }
    while (scheduler->drain()) ++out;
    EXPECT_EQ(out, 200);
  }
}

TEST(PartScheduler, LimitsFramesInFlightForShortParts) {
  for (const int sessions : {1, 2, 3})
    for (const int part : {1, 2, 7}) {
      const auto scheduler =
          shard_parts(team(std::vector<DigestDenoiser::Options>(sessions, {.margin = {4, 5}})),
                      {.margin = {4, 5}, .frames = part});
      std::int64_t out = 0;
      for (std::int64_t i = 0; i < 100; ++i) {
        if (scheduler->push(make_frame(i))) ++out;
        ASSERT_LE(i + 1 - out, scheduler->latency() + 1)
            << sessions << " sessions, parts of " << part;
      }
      while (scheduler->drain()) ++out;
      EXPECT_EQ(out, 100);
    }
}

// Frames that are filtered only as margins produce no result. Their share must be the same for a
// clip of stills as for other clips.
TEST(PartScheduler, RepeatedFramesDoNotShortenParts) {
  std::set<std::int64_t> repetitions;
  for (std::int64_t i = 0; i < 600; ++i)
    if (i % 5 != 0) repetitions.insert(i);
  std::vector<DigestDenoiser::Seen> seen;
  std::vector<std::unique_ptr<Denoiser>> one;
  one.push_back(std::make_unique<DigestDenoiser>(DigestDenoiser::Options{.margin = {3, 2}}, &seen));
  const auto scheduler = shard_parts(
      std::move(one),
      {.margin = {3, 2}, .frames = 20, .repeats = std::make_unique<KnownRepeats>(repetitions)});
  EXPECT_EQ(filter(*scheduler, 600).size(), 600u);
  EXPECT_EQ(seen.size(), 6u);  // 120 distinct frames
}

TEST(PartScheduler, ReleasesFramesAndSamplesOfRepeatedFrames) {
  const auto scheduler =
      shard_parts(team({{.margin = {1, 1}}, {.margin = {1, 1}}}),
                  {.margin = {1, 1},
                   .frames = 4,
                   .repeats = std::make_unique<KnownRepeats>(std::set<std::int64_t>{1})});
  std::vector<std::weak_ptr<std::byte[]>> pixels;
  std::int64_t out = 0;
  for (std::int64_t i = 0; i < 40; ++i) {
    Frame frame = make_frame(i);
    pixels.emplace_back(frame.pixels);
    if (scheduler->push(std::move(frame))) ++out;
    if (i == 1) {
      EXPECT_TRUE(pixels[1].expired());
    }
  }
  while (scheduler->drain()) ++out;
  EXPECT_EQ(out, 40);
  const auto all_gone = [&] {
    return std::ranges::all_of(pixels, [](const auto& one) { return one.expired(); });
  };
  // The session of the last part releases its frames after the last result.
  wait_until(all_gone);
  EXPECT_TRUE(all_gone());
}

TEST(PartScheduler, RejectsInvalidArguments) {
  EXPECT_THROW((void)shard_parts({}, {.margin = {1, 1}}), InvalidArgument);
  EXPECT_THROW((void)shard_parts(team({{}}), {.margin = -1}), InvalidArgument);
  EXPECT_THROW((void)shard_parts(team({{}}), {.margin = {1, 1}, .frames = 0}), InvalidArgument);
  const auto scheduler = shard_parts(team({{}, {}}), {});
  Frame there = make_frame(0);
  there.on_device = std::make_shared<DevicePicture>();
  EXPECT_THROW((void)scheduler->push(there), InvalidArgument);
}

TEST(PartScheduler, OtherErrorsEndTheJob) {
  std::vector<std::unique_ptr<Denoiser>> sessions;
  for (int i = 0; i < 2; ++i) sessions.push_back(std::make_unique<FakeDenoiser>(1));
  for (auto& session : sessions)
    static_cast<FakeDenoiser&>(*session).before_push = [](std::int64_t n) {
      if (n == 9) throw BadData("this frame is none");
    };
  const auto scheduler = shard_parts(std::move(sessions), {.margin = {1, 1}});
  FakeSource source(-1);
  FakeSink sink;
  EXPECT_THROW(run(source, *scheduler, sink), BadData);
  EXPECT_THROW((void)scheduler->drain(), BadData) << "it stays so";
}

TEST(PartScheduler, SessionThatKeepsFramesIsAnInternalError) {
  std::vector<std::unique_ptr<Denoiser>> sessions;
  auto session = std::make_unique<FakeDenoiser>(2);
  session->before_drain = [held = &session->held] { held->clear(); };
  sessions.push_back(std::move(session));
  const auto scheduler = shard_parts(std::move(sessions), {.margin = {2, 2}});
  FakeSource source(30);
  FakeSink sink;
  EXPECT_THROW(run(source, *scheduler, sink), InternalError);
}

TEST(PartScheduler, CanBeDestroyedWithFramesInFlight) {
  for (int frames = 0; frames < 40; frames += 3) {
    const auto scheduler =
        shard_parts(team({{.margin = {2, 2}, .delay_ms = 1}, {.margin = {2, 2}}}),
                    {.margin = {2, 2}, .frames = 6});
    for (int i = 0; i < frames; ++i) (void)scheduler->push(make_frame(i));
  }
}

}  // namespace
}  // namespace lull::pipeline
