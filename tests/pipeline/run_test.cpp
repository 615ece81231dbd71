#include "pipeline/run.h"

#include <gtest/gtest.h>

#include <stop_token>
#include <thread>

#include "core/error.h"
#include "pipeline/fakes.h"

namespace lull::pipeline {
namespace {

class RunWithLatency : public testing::TestWithParam<int> {};

TEST_P(RunWithLatency, DeliversFramesInOrderWithTimestampsAndSideData) {
  FakeSource source(50);
  FakeDenoiser denoiser(GetParam());
  FakeSink sink;
  const PipelineStats stats = run(source, denoiser, sink, {.queue_frames = 2});
  EXPECT_TRUE(sink.finished);
  EXPECT_FALSE(stats.cancelled);
  EXPECT_EQ(stats.frames, 50);
  ASSERT_EQ(sink.frames.size(), 50u);
  for (int i = 0; i < 50; ++i) expect_frame(sink.frames[i], i);
}

INSTANTIATE_TEST_SUITE_P(Run, RunWithLatency, testing::Values(0, 1, 2, 49, 50, 200));

TEST(Run, ProcessesASingleFrame) {
  FakeSource source(1);
  FakeDenoiser denoiser(2);
  FakeSink sink;
  EXPECT_EQ(run(source, denoiser, sink).frames, 1);
  EXPECT_TRUE(sink.finished);
}

TEST(Run, EmptySourceIsBadData) {
  FakeSource source(0);
  FakeDenoiser denoiser;
  FakeSink sink;
  EXPECT_THROW(run(source, denoiser, sink), BadData);
  EXPECT_FALSE(sink.finished);
}

TEST(Run, FormatChangeIsBadData) {
  FakeSource source(5);
  source.now.width = 3;  // the frames are 2 wide
  FakeDenoiser denoiser;
  FakeSink sink;
  EXPECT_THROW(run(source, denoiser, sink), BadData);
  EXPECT_FALSE(sink.finished);
}

TEST(Run, LostFrameIsAnInternalError) {
  FakeSource source(5);
  FakeDenoiser denoiser(5);
  denoiser.before_drain = [&] {
    if (!denoiser.held.empty()) denoiser.held.pop_back();
  };
  FakeSink sink;
  EXPECT_THROW(run(source, denoiser, sink), InternalError);
  EXPECT_FALSE(sink.finished);
}

// The stage that fails, at its call number `at`.
enum class Place { read, push, drain, write, finish };
struct Failure {
  Place place;
  std::int64_t at;
};

class RunWithFailure : public testing::TestWithParam<Failure> {};

TEST_P(RunWithFailure, ReportsTheErrorAndDoesNotFinish) {
  const auto [place, at] = GetParam();
  const auto fail_at = [at = at](std::int64_t n) {
    if (n == at) throw TestError("here");
  };
  FakeSource source(30);
  FakeDenoiser denoiser(3);
  FakeSink sink;
  switch (place) {
    case Place::read:
      source.before = fail_at;
      break;
    case Place::push:
      denoiser.before_push = fail_at;
      break;
    case Place::drain:
      denoiser.before_drain = [] { throw TestError("here"); };
      break;
    case Place::write:
      sink.before = fail_at;
      break;
    case Place::finish:
      sink.before_finish = [] { throw TestError("here"); };
      break;
  }
  EXPECT_THROW(run(source, denoiser, sink, {.queue_frames = 2}), TestError);
  EXPECT_FALSE(sink.finished);
  for (std::size_t i = 0; i < sink.frames.size(); ++i)
    expect_frame(sink.frames[i], static_cast<std::int64_t>(i));
}

INSTANTIATE_TEST_SUITE_P(Run, RunWithFailure,
                         testing::Values(Failure{Place::read, 0}, Failure{Place::read, 7},
                                         Failure{Place::read, 30}, Failure{Place::push, 0},
                                         Failure{Place::push, 7}, Failure{Place::push, 29},
                                         Failure{Place::drain, 0}, Failure{Place::write, 0},
                                         Failure{Place::write, 7}, Failure{Place::write, 29},
                                         Failure{Place::finish, 0}));

TEST(Run, FirstOfSeveralErrorsIsReported) {
  FakeSource source(100);
  FakeDenoiser denoiser;
  FakeSink sink;
  denoiser.before_push = [](std::int64_t n) {
    if (n == 3) throw TestError("first");
  };
  sink.before = [&](std::int64_t n) {
    if (n < 2) return;
    // The wait ends when the first error has been recorded.
    wait_until([&] { return source.interrupted.load(); });
    throw TestError("second");
  };
  try {
    run(source, denoiser, sink);
    FAIL() << "no error";
  } catch (const TestError& e) {
    EXPECT_STREQ(e.what(), "first");
  }
}

TEST(Run, SinkErrorStopsAnEndlessSource) {
  FakeSource source(-1);  // never ends
  FakeDenoiser denoiser(1);
  FakeSink sink;
  sink.before = [](std::int64_t n) {
    if (n == 10) throw TestError("disk full");
  };
  EXPECT_THROW(run(source, denoiser, sink), TestError);
}

TEST(Run, StopsWithoutFinishing) {
  FakeSource source(-1);
  FakeDenoiser denoiser(2);
  FakeSink sink;
  std::stop_source stop;
  std::jthread stopper([&] {
    while (sink.written < 5) sleep_ms(1);
    stop.request_stop();
  });
  const PipelineStats stats = run(source, denoiser, sink, {}, stop.get_token());
  EXPECT_TRUE(stats.cancelled);
  EXPECT_GE(stats.frames, 5);
  EXPECT_FALSE(sink.finished);
}

TEST(Run, StopsBeforeTheStart) {
  FakeSource source(-1);
  FakeDenoiser denoiser;
  FakeSink sink;
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(run(source, denoiser, sink, {}, stop.get_token()).cancelled);
  EXPECT_FALSE(sink.finished);
  EXPECT_TRUE(sink.frames.empty());
}

TEST(Run, StopsWhileEveryQueueIsFull) {
  FakeSource source(-1);
  FakeDenoiser denoiser;
  FakeSink sink;
  std::stop_source stop;
  sink.before = [&](std::int64_t n) {
    if (n != 1) return;
    // The sink holds one frame, and another frame waits in the sink's queue. The denoiser and the
    // decoder each wait to push another frame.
    wait_until([&] { return source.given == 6; });
    sleep_ms(10);  // the last steps before the threads wait are not observable
    stop.request_stop();
  };
  EXPECT_TRUE(run(source, denoiser, sink, {.queue_frames = 1}, stop.get_token()).cancelled);
  EXPECT_EQ(sink.written, 2);
}

TEST(Run, SlowSinkLimitsFramesInMemory) {
  constexpr int queue = 3, latency = 2;
  FakeSource source(60);
  FakeDenoiser denoiser(latency);
  FakeSink sink;
  std::int64_t most = 0;
  sink.before = [&](std::int64_t n) {
    sleep_ms(2);
    most = std::max<std::int64_t>(most, source.given - n);
  };
  run(source, denoiser, sink, {.queue_frames = queue});
  // The bound counts both queues, the session, and one frame in each of the three stages.
  EXPECT_LE(most, 2 * queue + latency + 3);
  EXPECT_EQ(sink.written, 60);
}

TEST(Run, BusySharesIdentifyTheSlowStage) {
  FakeSource source(20);
  FakeDenoiser denoiser;
  denoiser.before_push = [](std::int64_t) { sleep_ms(5); };
  FakeSink sink;
  int calls = 0;
  std::int64_t last = 0;
  const PipelineOptions options{.observer = [&](const PipelineStats& stats) {
    ++calls;
    EXPECT_EQ(stats.frames, last + 1);
    last = stats.frames;
  }};
  const PipelineStats stats = run(source, denoiser, sink, options);
  EXPECT_EQ(calls, 20);
  EXPECT_EQ(stats.busiest(), Stage::denoise);
  EXPECT_GE(stats.busy[static_cast<int>(Stage::denoise)], 20 * 0.005);
  EXPECT_LE(stats.busy_share(Stage::denoise), 1.0);
  EXPECT_LT(stats.busy_share(Stage::decode), stats.busy_share(Stage::denoise));
  EXPECT_LT(stats.busy_share(Stage::encode), stats.busy_share(Stage::denoise));
  EXPECT_GT(stats.fps(), 0);
}

}  // namespace
}  // namespace lull::pipeline
