// Tests real faults: full and read-only disks, other file systems, a kill at any moment. No partial
// file has the output's name, no run hangs, and the exit code describes the cause.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <random>
#include <thread>

#include "tools/support/clips.h"
#include "tools/support/mounted.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  return names;
}

class Faults : public testing::Test {
 protected:
  void SetUp() override {
    // The clip consists of noise, which needs about 10 KB per frame with lossless encoding.
    write_y4m(in_, std::vector<Frame>(
                       120, noisy_picture(clean_picture({.width = 128, .height = 96}), 40)));
    fs::create_directory(disk_);
  }
  std::vector<std::string> command(const std::string& output) const {
    return {"denoise", "-i",        in_,    "-o",         output, "--sigma",    "5",   "--device",
            "cpu",     "--profile", "fast", "--lossless", "-q",   "--progress", "none"};
  }
  /// The run must end by itself in time, with this code and a one-line message.
  void expect_end(const Outcome& outcome, int code) const {
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
  Folder folder_;
  const std::string in_ = folder_ / "in.y4m", disk_ = folder_ / "disk";
};

TEST_F(Faults, FullDiskLeavesNoFile) {
  const Mounted disk(disk_, 512 << 10);
  if (!disk.problem().empty()) GTEST_SKIP() << disk.problem();
  for (const std::string name : {"out.mkv", "out.avi", "out.nut", "out.y4m"}) {
    SCOPED_TRACE(name);
    expect_end(run_lull(command(disk_ + "/" + name)), 74);
    EXPECT_THAT(names_in(disk_), IsEmpty());
  }
}

TEST_F(Faults, FullDiskKeepsTheOldFile) {
  const Mounted disk(disk_, 512 << 10);
  if (!disk.problem().empty()) GTEST_SKIP() << disk.problem();
  write_bytes(disk_ + "/out.mkv", "precious");
  std::vector<std::string> arguments = command(disk_ + "/out.mkv");
  arguments.push_back("-y");
  expect_end(run_lull(arguments), 74);
  EXPECT_THAT(names_in(disk_), ElementsAre("out.mkv"));
  EXPECT_EQ(bytes_of(disk_ + "/out.mkv"), "precious");
}

// The sizes of the disks increase in steps up to that of the file. The error thus occurs in a
// header, a frame, the index and the last flush.
TEST_F(Faults, DiskOfAnySizeGivesAnErrorOrTheFile) {
  write_y4m(in_,
            std::vector<Frame>(4, noisy_picture(clean_picture({.width = 64, .height = 64}), 20)));
  ASSERT_EQ(run_lull(command(folder_ / "whole.mkv")).code, 0);
  const auto whole = static_cast<long>(fs::file_size(folder_ / "whole.mkv"));
  for (long size = 4096; size < whole + 8192; size += 4096) {
    const Mounted disk(disk_, size);
    if (!disk.problem().empty()) GTEST_SKIP() << disk.problem();
    const Outcome outcome = run_lull(command(disk_ + "/out.mkv"));
    if (size < whole) {
      expect_end(outcome, 74);
      EXPECT_THAT(names_in(disk_), IsEmpty()) << size;
    } else {
      EXPECT_EQ(outcome.code, 0) << outcome.err;
      EXPECT_EQ(bytes_of(disk_ + "/out.mkv"), bytes_of(folder_ / "whole.mkv"));
    }
  }
}

TEST_F(Faults, ReadOnlyDiskIsReported) {
  Mounted disk(disk_, 1 << 20);
  if (!disk.problem().empty()) GTEST_SKIP() << disk.problem();
  disk.make_read_only();
  const Outcome outcome = run_lull(command(disk_ + "/out.mkv"));
  expect_end(outcome, 73);
  EXPECT_THAT(outcome.err, HasSubstr("out.mkv"));
}

TEST_F(Faults, ReadOnlyFolderIsReported) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  fs::permissions(disk_, fs::perms::owner_read | fs::perms::owner_exec);
  expect_end(run_lull(command(disk_ + "/out.mkv")), 73);
  fs::permissions(disk_, fs::perms::owner_all);
  EXPECT_THAT(names_in(disk_), IsEmpty());
}

TEST_F(Faults, AnotherFileSystemIsSupported) {
  const Mounted disk(disk_, 8 << 20);
  if (!disk.problem().empty()) GTEST_SKIP() << disk.problem();
  ASSERT_EQ(run_lull(command(disk_ + "/out.mkv")).code, 0);
  EXPECT_THAT(names_in(disk_), ElementsAre("out.mkv"));
  // A link across file systems, to an existing file and to a missing one.
  fs::create_symlink(disk_ + "/out.mkv", folder_ / "link.mkv");
  fs::create_symlink(disk_ + "/new.mkv", folder_ / "dangling.mkv");
  std::vector<std::string> arguments = command(folder_ / "link.mkv");
  expect_end(run_lull(arguments), 73);
  arguments.push_back("-y");
  ASSERT_EQ(run_lull(arguments).code, 0);
  const Outcome dangling = run_lull(command(folder_ / "dangling.mkv"));
  EXPECT_EQ(dangling.code, 0) << dangling.err;
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.mkv"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "dangling.mkv"));
  EXPECT_EQ(bytes_of(disk_ + "/new.mkv"), bytes_of(disk_ + "/out.mkv"));
  EXPECT_THAT(names_in(disk_), testing::UnorderedElementsAre("out.mkv", "new.mkv"));
}

/// Starts the command repeatedly and ends it with `signal` at another moment each time, from the
/// first milliseconds to the end of the run.
class SignalAtAnyMoment : public Faults, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Signals, SignalAtAnyMoment, testing::Values(SIGKILL, SIGTERM, SIGINT));

TEST_P(SignalAtAnyMoment, LeavesNoPartialFileUnderTheName) {
  const std::string out = disk_ + "/out.mkv";
  const auto start = std::chrono::steady_clock::now();
  ASSERT_EQ(run_lull(command(out)).code, 0);
  const auto whole = std::chrono::steady_clock::now() - start;
  const std::string expected = bytes_of(out);
  fs::remove(out);

  std::mt19937 random(7);
  constexpr int rounds = 12;
  int killed = 0;
  for (int i = 0; i < rounds; ++i) {
    const auto moment = std::chrono::duration<double>(whole) *
                        std::uniform_real_distribution<double>(0.0, 1.1)(random);
    Program program(command(out));
    std::this_thread::sleep_for(moment);
    program.send(GetParam());
    const Outcome outcome = program.wait();
    if (outcome.code == 0) {
      EXPECT_EQ(bytes_of(out), expected);
    } else {
      EXPECT_EQ(outcome.code, 128 + GetParam()) << outcome.err;
      ++killed;
      // SIGKILL may come between the rename and the end.
      if (fs::exists(out)) {
        EXPECT_EQ(bytes_of(out), expected);
        EXPECT_EQ(GetParam(), SIGKILL);
      }
    }
    fs::remove(out);
    if (GetParam() != SIGKILL) {
      EXPECT_THAT(names_in(disk_), IsEmpty());
    }
  }
  EXPECT_GT(killed, 0);
  // Files that a killed process has left are hidden and do not obstruct later runs.
  for (const std::string& name : names_in(disk_))
    EXPECT_TRUE(name.starts_with(".out.mkv.")) << name;
  ASSERT_EQ(run_lull(command(out)).code, 0);
  EXPECT_EQ(bytes_of(out), expected);
}

TEST_F(Faults, KillKeepsTheOldFile) {
  const std::string out = disk_ + "/out.mkv";
  write_bytes(out, "precious");
  std::vector<std::string> arguments = command(out);
  arguments.push_back("-y");
  Program program(arguments);
  while (program.running() && names_in(disk_).size() < 2) std::this_thread::sleep_for(1ms);
  program.send(SIGKILL);
  ASSERT_EQ(program.wait().code, 128 + SIGKILL);
  EXPECT_EQ(bytes_of(out), "precious");
}

}  // namespace
}  // namespace lull::tools
