// A stop by a signal: within two seconds, with the right code, and nothing left.

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "tools/clips.h"
#include "tools/program.h"

namespace lull::tools {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

class Signals : public testing::TestWithParam<int> {
 protected:
  // Waits until the temporary file is there: the run has begun.
  void wait_for_start(Program& program) const {
    const auto end = Clock::now() + 60s;
    while (program.running() && Clock::now() < end && folder_.names().size() < 2)
      std::this_thread::sleep_for(5ms);
    std::this_thread::sleep_for(100ms);
    ASSERT_TRUE(program.running()) << "it ended before the signal came";
  }
  void expect_stop(Program& program, int signal) const {
    const auto start = Clock::now();
    program.send(signal);
    const Outcome outcome = program.wait();
    EXPECT_LT(Clock::now() - start, 2s);
    EXPECT_EQ(outcome.code, 128 + signal);
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    EXPECT_EQ(folder_.names(), std::vector<std::string>{"in.y4m"});
  }
  std::vector<std::string> command() const {
    return {"denoise",  "-i", folder_ / "in.y4m", "-o",    folder_ / "out.mkv",
            "--sigma",  "20", "--profile",        "paper", "--device",
            "reference"};
  }
  Folder folder_;
};

INSTANTIATE_TEST_SUITE_P(Run, Signals, testing::Values(SIGINT, SIGTERM, SIGHUP));

TEST_P(Signals, BetweenFrames) {
  write_y4m(
      folder_ / "in.y4m",
      std::vector<Frame>(4000, noisy_picture(clean_picture({.width = 32, .height = 32}), 20)));
  Program program(command());
  wait_for_start(program);
  expect_stop(program, GetParam());
}

TEST_P(Signals, WithinAFrameOfManySeconds) {
  write_y4m(folder_ / "in.y4m", {clean_picture({.width = 1600, .height = 1200})});
  Program program(command());
  wait_for_start(program);
  expect_stop(program, GetParam());
}

TEST_F(Signals, TheSecondEndsItAtOnce) {
  write_y4m(folder_ / "in.y4m", {clean_picture({.width = 1600, .height = 1200})});
  Program program(command());
  wait_for_start(program);
  program.send(SIGINT);
  std::this_thread::sleep_for(200ms);
  ASSERT_TRUE(program.running());
  const auto start = Clock::now();
  program.send(SIGINT);
  EXPECT_EQ(program.wait().code, 128 + SIGINT);
  EXPECT_LT(Clock::now() - start, 500ms);
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"in.y4m"});
}

}  // namespace
}  // namespace lull::tools
