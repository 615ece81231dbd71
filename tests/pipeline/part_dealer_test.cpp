// Parts of a clip for several sessions: what each sees, that all come out in order, and what
// becomes of parts whose session is lost.

#include "pipeline/part_dealer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <random>
#include <set>
#include <string>

#include "core/error.h"
#include "pipeline/fakes.h"
#include "pipeline/run.h"

namespace lull::pipeline {
namespace {

using testing::ElementsAre;

/// The frames of a clip by what they are to the one before; those that are not in it are fresh.
class Told final : public RepeatFinder {
 public:
  explicit Told(std::set<std::int64_t> repetitions) : repetitions_(std::move(repetitions)) {}
  Likeness find(const Frame&) override {
    return repetitions_.contains(next_++) ? Likeness::repeats : Likeness::fresh;
  }
  void clear() override { next_ = 0; }

 private:
  std::set<std::int64_t> repetitions_;
  std::int64_t next_ = 0;
};

/// A filter over time whose result is a digest of all distinct frames within its margin, each given
/// by its first sample. Repetitions get the result of the frame before.
class Looking final : public Denoiser {
 public:
  struct Options {
    Margin margin{};
    int delay_ms = 0;
    int fails_at = -1;  // the push that throws
    bool fails_in_drain = false;
    std::atomic<bool>* failed = nullptr;  // set when it fails
    std::atomic<bool>* waits = nullptr;   // for this, to leave others their parts
  };
  struct Seen {
    std::vector<std::int64_t> frames;
    std::vector<int> aside;
  };
  Looking(Options options, std::vector<Seen>* seen = nullptr) : options_(options), seen_(seen) {}
  int latency() const noexcept override { return options_.margin.after; }
  std::optional<Frame> push(Frame frame) override {
    if (options_.delay_ms > 0) sleep_ms(options_.delay_ms);
    wait_until([&] { return !options_.waits || *options_.waits; });
    if (pushes_++ == options_.fails_at) {
      if (options_.failed) *options_.failed = true;
      throw DeviceFailure("a device failed");
    }
    EXPECT_NE(frame.likeness, Likeness::unknown);
    if (frames_.empty()) {
      EXPECT_NE(frame.likeness, Likeness::repeats) << "nothing to repeat";
      if (seen_) seen_->emplace_back();
    }
    if (seen_) {
      seen_->back().frames.push_back(frame.passenger->number);
      seen_->back().aside.push_back(frame.aside);
    }
    if (frame.likeness != Likeness::repeats)
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
    result.take_identity(noisy);
    return result;
  }

  const Options options_;
  std::vector<Seen>* seen_;
  std::vector<int> distinct_;
  std::vector<std::pair<Frame, std::size_t>> frames_;  // and the distinct one each has as its own
  std::size_t out_ = 0;
  int pushes_ = 0;
};

std::vector<std::unique_ptr<Denoiser>> team(const std::vector<Looking::Options>& members) {
  std::vector<std::unique_ptr<Denoiser>> sessions;
  for (const Looking::Options& member : members)
    sessions.push_back(std::make_unique<Looking>(member));
  return sessions;
}

std::vector<Frame> filter(Denoiser& denoiser, std::int64_t frames) {
  std::vector<Frame> out;
  for (std::int64_t i = 0; i < frames; ++i)
    if (auto ready = denoiser.push(make_frame(i))) out.push_back(*std::move(ready));
  while (auto ready = denoiser.drain()) out.push_back(*std::move(ready));
  return out;
}

/// By one session that sees it all.
std::vector<Frame> whole(const Margin& margin, std::int64_t frames,
                         const std::set<std::int64_t>& repetitions) {
  Looking session({.margin = margin});
  std::vector<Frame> out;
  for (std::int64_t i = 0; i < frames; ++i) {
    Frame frame = make_frame(i);
    frame.likeness = repetitions.contains(i) ? Likeness::repeats : Likeness::fresh;
    if (auto ready = session.push(std::move(frame))) out.push_back(*std::move(ready));
  }
  while (auto ready = session.drain()) out.push_back(*std::move(ready));
  return out;
}

void expect_equal(const std::vector<Frame>& result, const std::vector<Frame>& expected) {
  ASSERT_EQ(result.size(), expected.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    EXPECT_EQ(result[i].pts, expected[i].pts);
    ASSERT_TRUE(result[i].passenger);
    EXPECT_EQ(result[i].passenger->number, static_cast<std::int64_t>(i));
    ASSERT_TRUE(std::equal(&result[i].pixels[0], &result[i].pixels[4], &expected[i].pixels[0]))
        << "frame " << i;
  }
}

/// Every kind of repetition among `frames` frames.
std::vector<std::set<std::int64_t>> repetitions_among(std::int64_t frames) {
  std::vector<std::set<std::int64_t>> all(4);
  for (std::int64_t i = 0; i < frames; ++i) {
    if (i % 2 == 1) all[1].insert(i);                            // doubled
    if (i > 10 && i < 50) all[2].insert(i);                      // stands still for a while
    if (i > 0 && (i % 31 != 0 || i % 5 == 1)) all[3].insert(i);  // nearly always
  }
  return all;
}

TEST(PartDealer, GivesWhatOneSessionGives) {
  for (const std::int64_t frames : {0, 1, 2, 7, 61, 150})
    for (const auto& repetitions : repetitions_among(frames))
      for (const Margin margin : {Margin{0, 0}, {1, 1}, {5, 4}, {0, 2}})
        for (const int part : {1, 5, 40})
          for (const int sessions : {1, 2, 4}) {
            SCOPED_TRACE(testing::Message()
                         << frames << " frames, " << repetitions.size()
                         << " of them repetitions, margins " << margin.before << " and "
                         << margin.after << ", " << sessions << " sessions, parts of " << part);
            const auto dealer = shard_parts(
                team(std::vector<Looking::Options>(sessions, {.margin = margin})),
                {.margin = margin, .frames = part, .repeats = std::make_unique<Told>(repetitions)});
            expect_equal(filter(*dealer, frames), whole(margin, frames, repetitions));
            if (HasFatalFailure()) return;
          }
}

TEST(PartDealer, SessionsSeeTheMarginsWithoutRepetitions) {
  std::vector<Looking::Seen> seen;
  std::vector<std::unique_ptr<Denoiser>> one;
  one.push_back(std::make_unique<Looking>(Looking::Options{.margin = {2, 2}}, &seen));
  const auto dealer = shard_parts(
      std::move(one),
      {.margin = {2, 2},
       .frames = 4,
       .repeats = std::make_unique<Told>(std::set<std::int64_t>{1, 4, 5, 7, 9, 10, 11})});
  EXPECT_EQ(filter(*dealer, 16).size(), 16u);
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_THAT(seen[0].frames, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 12));
  EXPECT_THAT(seen[0].aside, ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 1, 2));
  EXPECT_THAT(seen[1].frames, ElementsAre(3, 6, 8, 9, 10, 11, 12, 13, 14, 15));
  EXPECT_THAT(seen[1].aside, ElementsAre(-2, -1, 0, 0, 0, 0, 0, 0, 0, 1));
  EXPECT_THAT(seen[2].frames, ElementsAre(13, 14, 15));
  EXPECT_THAT(seen[2].aside, ElementsAre(-2, -1, 0));
}

TEST(PartDealer, TakesAnotherClipOnceItIsDrained) {
  const auto dealer = shard_parts(team({{.margin = {2, 2}}, {.margin = {2, 2}}}),
                                  {.margin = {2, 2},
                                   .frames = 6,
                                   .repeats = std::make_unique<Told>(std::set<std::int64_t>{3})});
  for (const std::int64_t frames : {40, 0, 5, 33})
    expect_equal(filter(*dealer, frames), whole({2, 2}, frames, {3}));
}

TEST(PartDealer, BoundsWhatIsInFlight) {
  for (const int slow : {0, 1}) {  // which of them
    std::vector<Looking::Options> members(2, {.margin = {2, 2}});
    members[slow].delay_ms = 1;
    const auto dealer = shard_parts(team(members), {.margin = {2, 2}, .frames = 10});
    EXPECT_EQ(dealer->latency(), 30);
    std::int64_t out = 0;
    for (std::int64_t i = 0; i < 200; ++i) {
      if (dealer->push(make_frame(i))) ++out;
      ASSERT_LE(i + 1 - out, dealer->latency() + 1);
    }
    while (dealer->drain()) ++out;
    EXPECT_EQ(out, 200);
  }
}

TEST(PartDealer, BoundsItWithShortPartsToo) {
  for (const int sessions : {1, 2, 3})
    for (const int part : {1, 2, 7}) {
      const auto dealer =
          shard_parts(team(std::vector<Looking::Options>(sessions, {.margin = {4, 5}})),
                      {.margin = {4, 5}, .frames = part});
      std::int64_t out = 0;
      for (std::int64_t i = 0; i < 100; ++i) {
        if (dealer->push(make_frame(i))) ++out;
        ASSERT_LE(i + 1 - out, dealer->latency() + 1) << sessions << " sessions, parts of " << part;
      }
      while (dealer->drain()) ++out;
      EXPECT_EQ(out, 100);
    }
}

// What is filtered for margins is lost: as much of it for a clip of stills as for any other.
TEST(PartDealer, RepetitionsMakeNoPartShorter) {
  std::set<std::int64_t> repetitions;
  for (std::int64_t i = 0; i < 600; ++i)
    if (i % 5 != 0) repetitions.insert(i);
  std::vector<Looking::Seen> seen;
  std::vector<std::unique_ptr<Denoiser>> one;
  one.push_back(std::make_unique<Looking>(Looking::Options{.margin = {3, 2}}, &seen));
  const auto dealer =
      shard_parts(std::move(one),
                  {.margin = {3, 2}, .frames = 20, .repeats = std::make_unique<Told>(repetitions)});
  EXPECT_EQ(filter(*dealer, 600).size(), 600u);
  EXPECT_EQ(seen.size(), 6u);  // 120 distinct frames
}

TEST(PartDealer, LetsGoOfFramesAndOfTheSamplesOfRepetitions) {
  const auto dealer = shard_parts(team({{.margin = {1, 1}}, {.margin = {1, 1}}}),
                                  {.margin = {1, 1},
                                   .frames = 4,
                                   .repeats = std::make_unique<Told>(std::set<std::int64_t>{1})});
  std::vector<std::weak_ptr<std::byte[]>> pixels;
  std::int64_t out = 0;
  for (std::int64_t i = 0; i < 40; ++i) {
    Frame frame = make_frame(i);
    pixels.emplace_back(frame.pixels);
    if (dealer->push(std::move(frame))) ++out;
    if (i == 1) {
      EXPECT_TRUE(pixels[1].expired());
    }
  }
  while (dealer->drain()) ++out;
  EXPECT_EQ(out, 40);
  const auto all_gone = [&] {
    return std::ranges::all_of(pixels, [](const auto& one) { return one.expired(); });
  };
  // The last part's session lets go after the last result.
  wait_until(all_gone);
  EXPECT_TRUE(all_gone());
}

TEST(PartDealer, RefusesWhatMakesNoSense) {
  EXPECT_THROW((void)shard_parts({}, {.margin = {1, 1}}), InvalidArgument);
  EXPECT_THROW((void)shard_parts(team({{}}), {.margin = -1}), InvalidArgument);
  EXPECT_THROW((void)shard_parts(team({{}}), {.margin = {1, 1}, .frames = 0}), InvalidArgument);
  const auto dealer = shard_parts(team({{}, {}}), {});
  Frame there = make_frame(0);
  there.on_device = std::make_shared<DevicePicture>();
  EXPECT_THROW((void)dealer->push(there), InvalidArgument);
}

TEST(PartDealer, OtherErrorsEndTheJob) {
  std::vector<std::unique_ptr<Denoiser>> sessions;
  for (int i = 0; i < 2; ++i) sessions.push_back(std::make_unique<FakeDenoiser>(1));
  for (auto& session : sessions)
    static_cast<FakeDenoiser&>(*session).before_push = [](std::int64_t n) {
      if (n == 9) throw BadData("this frame is none");
    };
  const auto dealer = shard_parts(std::move(sessions), {.margin = {1, 1}});
  FakeSource source(-1);
  FakeSink sink;
  EXPECT_THROW(run(source, *dealer, sink), BadData);
  EXPECT_THROW((void)dealer->drain(), BadData) << "it stays so";
}

TEST(PartDealer, ASessionThatKeepsFramesIsInternal) {
  std::vector<std::unique_ptr<Denoiser>> sessions;
  auto session = std::make_unique<FakeDenoiser>(2);
  session->before_drain = [held = &session->held] { held->clear(); };
  sessions.push_back(std::move(session));
  const auto dealer = shard_parts(std::move(sessions), {.margin = {2, 2}});
  FakeSource source(30);
  FakeSink sink;
  EXPECT_THROW(run(source, *dealer, sink), InternalError);
}

TEST(PartDealer, CanBeDestroyedOnTheWay) {
  for (int frames = 0; frames < 40; frames += 3) {
    const auto dealer = shard_parts(team({{.margin = {2, 2}, .delay_ms = 1}, {.margin = {2, 2}}}),
                                    {.margin = {2, 2}, .frames = 6});
    for (int i = 0; i < frames; ++i) (void)dealer->push(make_frame(i));
  }
}

// ---- lost sessions --------------------------------------------------------------------------

TEST(PartLoss, AnotherSessionTakesThePart) {
  for (const int at : {0, 1, 5, 12, 13})
    for (const int delay : {0, 1}) {
      std::mutex mutex;
      std::vector<std::size_t> told;
      std::atomic<bool> failed = false;
      auto members =
          team({{.margin = {2, 2}, .waits = &failed},
                {.margin = {2, 2}, .delay_ms = delay, .fails_at = at, .failed = &failed}});
      const auto dealer = shard_parts(
          std::move(members), {.margin = {2, 2},
                               .frames = 6,
                               .shard = {.lost = [&](std::size_t index, const auto&, auto left) {
                                 const std::lock_guard lock(mutex);
                                 EXPECT_EQ(index, 1u);
                                 told.push_back(left);
                               }}});
      expect_equal(filter(*dealer, 120), whole({2, 2}, 120, {}));
      EXPECT_THAT(told, ElementsAre(1u));
    }
}

// The one that is left is in a later part, and waits for frames of it.
TEST(PartLoss, OfTheOldestPartWhileTheOtherWaits) {
  const auto dealer = shard_parts(team({{.margin = {2, 2}, .delay_ms = 2, .fails_at = 9},
                                        {.margin = {2, 2}, .delay_ms = 2, .fails_at = 9},
                                        {.margin = {2, 2}}}),
                                  {.margin = {2, 2}, .frames = 10});
  expect_equal(filter(*dealer, 150), whole({2, 2}, 150, {}));
}

TEST(PartLoss, InDrain) {
  const auto dealer = shard_parts(
      team({{.margin = {2, 2}, .fails_in_drain = true}, {.margin = {2, 2}, .delay_ms = 1}}),
      {.margin = {2, 2}, .frames = 6});
  expect_equal(filter(*dealer, 50), whole({2, 2}, 50, {}));
}

TEST(PartLoss, NobodyIsLeft) {
  const auto dealer =
      shard_parts(team({{.margin = {1, 1}, .fails_at = 3}, {.margin = {1, 1}, .fails_at = 8}}),
                  {.margin = {1, 1}, .frames = 4});
  FakeSource source(1000);
  FakeSink sink;
  EXPECT_THROW(run(source, *dealer, sink), DeviceFailure);
  EXPECT_FALSE(sink.finished);
}

TEST(PartLoss, OneTakesTheirPlace) {
  for (const int at : {0, 3, 30}) {
    const auto dealer =
        shard_parts(team({{.margin = {1, 1}, .fails_at = at}}),
                    {.margin = {1, 1},
                     .frames = 5,
                     .shard = {.replace = [](const DeviceFailure& why) {
                       EXPECT_STREQ(why.what(), "a device failed");
                       return std::make_unique<Looking>(Looking::Options{.margin = {1, 1}});
                     }}});
    expect_equal(filter(*dealer, 60), whole({1, 1}, 60, {}));
  }
}

// Chance decides what each session does, and which frames are repetitions; one lives.
TEST(PartLoss, WhateverHappens) {
  std::mt19937 rng{11};
  const auto any = [&](int below) { return static_cast<int>(rng() % below); };
  for (int round = 0; round < 80; ++round) {
    const Margin margin{any(5), any(5)};
    const int frames = any(120);
    std::vector<Looking::Options> members(1 + any(4));
    for (auto& member : members) member = {margin, any(2), any(2) ? any(50) : -1, any(4) == 0};
    members[any(static_cast<int>(members.size()))] = {margin, any(2)};
    std::set<std::int64_t> repetitions;
    const int some = 1 + any(6);
    for (int i = 1; i < frames; ++i)
      if (any(some) > 0) repetitions.insert(i);
    const auto dealer = shard_parts(
        team(members),
        {.margin = margin, .frames = 1 + any(20), .repeats = std::make_unique<Told>(repetitions)});
    expect_equal(filter(*dealer, frames), whole(margin, frames, repetitions));
    if (HasFailure()) FAIL() << "round " << round;
  }
}

}  // namespace
}  // namespace lull::pipeline
