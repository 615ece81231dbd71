// Tests that a run that is stopped by a signal ends soon, with the right exit code, and leaves no
// file.

#include "tools/report/signals.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using namespace std::chrono_literals;

class Signals : public testing::TestWithParam<int> {
 protected:
  // Waits until the temporary file of the output exists and the filter has begun: from then on,
  // only the filter uses CPU time.
  void wait_for_start(Program& program) const {
    while (program.running() && folder_.names().size() < 2) std::this_thread::sleep_for(1ms);
    const auto begun = program.cpu_time();
    while (program.running() && program.cpu_time() < begun + 100ms)
      std::this_thread::sleep_for(1ms);
    ASSERT_TRUE(program.running()) << "it ended before the signal came";
  }
  // Without the signal the run would last longer than wait() waits.
  void expect_stop(Program& program, int signal) const {
    program.send(signal);
    const Outcome outcome = program.wait();
    EXPECT_EQ(outcome.code, 128 + signal);
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    EXPECT_EQ(folder_.names(), std::vector<std::string>{"in.y4m"});
  }
  std::vector<std::string> command() const {
    return {"denoise",   "-i",    folder_ / "in.y4m", "-o", folder_ / "out.mkv", "--sigma",  "20",
            "--profile", "paper", "--step",           "1",  "--device",          "reference"};
  }
  Folder folder_;
};

INSTANTIATE_TEST_SUITE_P(Run, Signals, testing::Values(SIGINT, SIGTERM, SIGHUP));

TEST_P(Signals, StopBetweenFrames) {
  write_y4m(
      folder_ / "in.y4m",
      std::vector<Frame>(4000, noisy_picture(clean_picture({.width = 32, .height = 32}), 20)));
  Program program(command());
  wait_for_start(program);
  expect_stop(program, GetParam());
}

TEST_P(Signals, StopWithinALongFrame) {
  write_y4m(folder_ / "in.y4m", {clean_picture({.width = 1600, .height = 1200})});
  Program program(command());
  wait_for_start(program);
  expect_stop(program, GetParam());
}

/// Runs a SignalWatch in a process that does not end by itself, and sends signals to that process.
int end_by(std::chrono::milliseconds patience, int signals) {
  const SignalWatch watch([](int signal) { std::fprintf(stderr, "cleaned up: %d\n", signal); },
                          patience);
  for (int i = 0; i < signals; ++i) {
    kill(getpid(), SIGTERM);
    while (watch.signal() == 0) std::this_thread::sleep_for(1ms);
  }
  for (;;) pause();
}

class SignalWatchDeath : public testing::Test {
 protected:
  void SetUp() override { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

TEST_F(SignalWatchDeath, SecondSignalEndsTheProcessAtOnce) {
  EXPECT_EXIT(end_by(24h, 2), testing::ExitedWithCode(128 + SIGTERM), "^cleaned up: 15\n$");
}

TEST_F(SignalWatchDeath, TimeoutEndsTheProcess) {
  EXPECT_EXIT(end_by(1ms, 1), testing::ExitedWithCode(128 + SIGTERM), "^cleaned up: 15\n$");
}

/// Runs two watches one after the other inside an outer one; nothing ends by itself.
int end_inside(std::chrono::milliseconds patience) {
  const SignalWatch outer([](int) { std::fprintf(stderr, "outer cleaned up\n"); }, patience);
  {
    const SignalWatch first([](int) { std::fprintf(stderr, "first cleaned up\n"); });
  }
  const SignalWatch second([](int signal) { std::fprintf(stderr, "cleaned up: %d\n", signal); });
  kill(getpid(), SIGTERM);
  while (second.signal() == 0 || !outer.token().stop_requested()) std::this_thread::sleep_for(1ms);
  for (;;) pause();
}

TEST_F(SignalWatchDeath, OuterTimeoutAppliesToInnerWatches) {
  EXPECT_EXIT(end_inside(1ms), testing::ExitedWithCode(128 + SIGTERM), "^cleaned up: 15\n$");
}

/// Sends a signal between two watches; it takes effect when the second one begins.
void end_between() {
  const SignalWatch outer([](int) {}, 24h);
  {
    const SignalWatch first([](int) {});
  }
  kill(getpid(), SIGTERM);
  while (outer.signal() == 0) std::this_thread::sleep_for(1ms);
  const SignalWatch second([](int) {});
  std::exit(second.token().stop_requested() ? second.signal() : 1);
}

TEST_F(SignalWatchDeath, LaterWatchSeesAnEarlierSignal) {
  EXPECT_EXIT(end_between(), testing::ExitedWithCode(SIGTERM), "^$");
}

}  // namespace
}  // namespace lull::tools
