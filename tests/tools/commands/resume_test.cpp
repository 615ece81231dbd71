// Tests segmented jobs under real faults: kills at random moments, signals, full disks, two
// processes at the same time.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/xattr.h>

#include <algorithm>
#include <chrono>
#include <cstring>
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
using testing::ElementsAre;
using testing::HasSubstr;

constexpr FrameFormat format{
    .width = 96, .height = 64, .layout = Layout::yuv, .chroma_shift_x = 1, .chroma_shift_y = 1};

class Resume : public testing::Test {
 protected:
  void SetUp() override {
    std::vector<Frame> frames;
    for (int i = 0; i < 150; ++i)
      frames.push_back(noisy_picture(clean_picture(format, 0.05 * i), 20, i + 1));
    write_y4m(folder_ / "video.y4m", frames);
    convert(folder_ / "video.y4m", folder_ / "video.mkv", {.lossless = true});
    // The input has variable timestamps, sound and subtitles.
    add_other_streams(folder_ / "video.mkv", in_);
    fs::create_directory(disk_);
  }
  std::vector<std::string> command(const std::string& output,
                                   const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all = {
        "denoise", "-i",         in_,    "-o",          output, "--sigma",
        "20",      "--device",   "cpu",  "--profile",   "fast", "--segment-frames",
        "20",      "--progress", "none", "--log-level", "error"};
    for (std::size_t i = 0; i < more.size(); ++i) {
      const auto same = std::ranges::find(all, more[i]);
      if (more[i].starts_with("-") && same != all.end()) {
        *(same + 1) = more[++i];  // replaces the value
      } else {
        all.push_back(more[i]);
      }
    }
    return all;
  }
  std::string whole(const std::vector<std::string>& more = {}) const {
    const Outcome outcome = run_lull(command(folder_ / "whole.mkv", more));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    return bytes_of(folder_ / "whole.mkv");
  }
  /// Kills the run once a segment is finished.
  void run_and_kill(const std::string& output, const std::vector<std::string>& more = {}) const {
    Program program(command(output, more));
    while (program.running() && !has_segment(output)) std::this_thread::sleep_for(1ms);
    program.send(SIGKILL);
    ASSERT_EQ(program.wait().code, 128 + SIGKILL);
  }
  static bool has_segment(const std::string& output) {
    std::error_code ignored;
    return fs::exists(output + ".lull-job/manifest", ignored) &&
           bytes_of(output + ".lull-job/manifest").find("\nsegment ") != std::string::npos;
  }
  static std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder))
      names.push_back(entry.path().filename().string());
    return names;
  }
  Folder folder_;
  const std::string in_ = folder_ / "in.mkv", disk_ = folder_ / "disk", out_ = disk_ + "/out.mkv";
};

/// The job is killed repeatedly at different moments until a run completes.
class ResumeAfterKills : public Resume, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Signals, ResumeAfterKills, testing::Values(SIGKILL, SIGTERM));

TEST_P(ResumeAfterKills, RepeatedKillsGiveTheSameBytes) {
  const auto start = std::chrono::steady_clock::now();
  const std::string expected = whole();
  const std::chrono::duration<double> length = std::chrono::steady_clock::now() - start;
  std::mt19937 random(11);
  int kills = 0;
  for (int job = 0; job < 4; ++job) {
    for (int attempt = 0; attempt < 60; ++attempt) {
      Program program(command(out_, {"--resume"}));
      if (attempt == 0) {  // on a busy machine, too, there must be something to resume
        while (program.running() && !has_segment(out_)) std::this_thread::sleep_for(1ms);
      } else {
        std::this_thread::sleep_for(
            length * std::uniform_real_distribution<double>(0.1, 0.3 + 0.1 * attempt)(random));
      }
      program.send(GetParam());
      const Outcome outcome = program.wait();
      if (outcome.code == 0) break;
      ASSERT_EQ(outcome.code, 128 + GetParam()) << outcome.err;
      ++kills;
      if (fs::exists(out_)) break;  // between the rename and the end
    }
    EXPECT_EQ(bytes_of(out_), expected);
    fs::remove(out_);
    fs::remove_all(out_ + ".lull-job");
  }
  EXPECT_GT(kills, 0);
}

TEST_F(Resume, FinishedJobLeavesOnlyItsOutput) {
  ASSERT_EQ(run_lull(command(out_)).code, 0);
  EXPECT_THAT(names_in(disk_), ElementsAre("out.mkv"));
}

// A script can repeat the command without knowing whether the previous attempt was complete.
TEST_F(Resume, FinishedJobIsNotRepeated) {
  ASSERT_EQ(run_lull(command(out_, {"--resume"})).code, 0);
  const std::string bytes = bytes_of(out_);
  const auto time = fs::last_write_time(out_);
  char mark[256];
  if (::getxattr(out_.c_str(), "user.lull.job", mark, sizeof mark) < 0)
    GTEST_SKIP() << "no extended attributes on this file system";
  const Outcome again = run_lull(command(out_, {"--resume"}));
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(fs::last_write_time(out_), time);
  EXPECT_THAT(names_in(disk_), ElementsAre("out.mkv"));
  // The run fails for a different job, without --resume, and for a file that was modified since.
  EXPECT_EQ(run_lull(command(out_, {"--resume", "--sigma", "21"})).code, 73);
  EXPECT_EQ(run_lull(command(out_)).code, 73);
  write_bytes(out_, bytes.substr(1));
  EXPECT_EQ(run_lull(command(out_, {"--resume"})).code, 73);
}

TEST_F(Resume, StopExplainsHowToResume) {
  const std::string expected = whole();
  Program program(command(out_));
  while (program.running() && !has_segment(out_)) std::this_thread::sleep_for(1ms);
  program.send(SIGINT);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.code, 128 + SIGINT);
  EXPECT_EQ(outcome.error_lines(), 1);
  EXPECT_THAT(outcome.err, HasSubstr("--resume"));
  EXPECT_THAT(names_in(disk_), ElementsAre("out.mkv.lull-job"));
  for (const std::string& name : names_in(out_ + ".lull-job"))
    EXPECT_FALSE(name.ends_with(".tmp")) << name;
  ASSERT_EQ(run_lull(command(out_, {"--resume"})).code, 0);
  EXPECT_EQ(bytes_of(out_), expected);
}

TEST_F(Resume, JobResumesAfterAFullDisk) {
  const std::string expected = whole();
  int failures = 0;
  // The disk fills up in a segment, in a manifest, and in the final file.
  for (const long kilobytes : {64, 128, 256, 384}) {
    const Mounted disk(disk_, kilobytes << 10);
    if (!disk.problem().empty()) GTEST_SKIP() << disk.problem();
    const Outcome outcome = run_lull(command(out_));
    if (outcome.code == 0) continue;
    ++failures;
    EXPECT_THAT(outcome.code, testing::AnyOf(73, 74)) << outcome.err;
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    EXPECT_FALSE(fs::exists(out_));
    if (!fs::exists(out_ + ".lull-job")) continue;
    // Another disk has enough space.
    const std::string other = folder_ / ("moved" + std::to_string(kilobytes) + ".mkv");
    fs::copy(out_ + ".lull-job", other + ".lull-job");
    const Outcome resumed = run_lull(command(other, {"--resume"}));
    ASSERT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_EQ(bytes_of(other), expected);
  }
  EXPECT_GT(failures, 1);
}

TEST_F(Resume, SecondProcessIsRejected) {
  Program first(command(out_));
  while (first.running() && !has_segment(out_)) std::this_thread::sleep_for(1ms);
  first.send(SIGSTOP);
  const Outcome second = run_lull(command(out_, {"--resume"}));
  first.send(SIGCONT);
  EXPECT_EQ(second.code, 75);
  EXPECT_EQ(second.error_lines(), 1);
  EXPECT_THAT(second.err, HasSubstr("another process"));
  EXPECT_EQ(first.wait().code, 0);
}

TEST_F(Resume, DifferentJobIsRejectedInOneLine) {
  run_and_kill(out_);
  const std::pair<std::vector<std::string>, std::string> others[] = {
      {{"--sigma", "21"}, "--sigma (of 0..255) was 20:20:20 and is 21:21:21"},
      {{"--profile", "balanced"}, "--window was"},
      {{"--phases", "1"}, "--phases was 2 and is 1"},
      {{"--device", "reference"}, "the device was cpu"},
      {{"--segment-frames", "30"}, "--segment-frames was 20 and is 30"},
      {{"--crf", "30"}, "--crf was none and is 30"},
      {{"--interlaced", "fields"}, "--interlaced was"},
      {{"--constant-areas", "filter"}, "--constant-areas was preserve and is filter"},
      {{"--frames", "0-99"}, "the part of the input was all and is 0-99"},
      {{"-i", folder_ / "video.y4m"}, "the input was"},
  };
  for (const auto& [options, text] : others) {
    std::vector<std::string> more = options;
    more.push_back("--resume");
    const Outcome outcome = run_lull(command(out_, more));
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(text));
  }
  const Outcome unasked = run_lull(command(out_));
  EXPECT_EQ(unasked.code, 73);
  EXPECT_THAT(unasked.err, HasSubstr("--resume"));
  // Options that do not change the result may differ.
  EXPECT_EQ(run_lull(command(out_, {"--resume", "--threads", "1", "--batch", "64x64"})).code, 0);
  EXPECT_EQ(bytes_of(out_), whole());
}

// The phases of these two profiles have the same parameters.
TEST_F(Resume, LinearCombinationsInsteadOfPhasesAreRejected) {
  run_and_kill(out_, {"--profile", "high", "--temporal", "1"});
  const Outcome outcome =
      run_lull(command(out_, {"--profile", "best", "--temporal", "1", "--resume"}));
  EXPECT_EQ(outcome.code, 2) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("the filter was phases and is linear combinations"));
}

TEST_F(Resume, ResumesWithFieldsSelectionsAndOtherOptions) {
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--interlaced", "fields"},
        {"--frames", "10-49,60-"},
        {"--start", "1", "--duration", "3"},
        {"--vcodec", "libx265", "--vopts", "preset=ultrafast"},
        {"--lossless"},
        {"--device", "reference", "--sigma", "0"}}) {
    SCOPED_TRACE(more.front());
    const std::string expected = whole(more);
    run_and_kill(out_, more);
    fs::remove(out_ + ".lull-job/000000.lullseg");
    std::vector<std::string> resumed = more;
    resumed.push_back("--resume");
    const Outcome outcome = run_lull(command(out_, resumed));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(bytes_of(out_), expected);
    fs::remove(out_);
    fs::remove(folder_ / "whole.mkv");
  }
}

/// Returns a clip with repeated frames and a scene cut; `shift` moves both.
std::vector<Frame> clip_with_repeats_and_cut(int shift) {
  std::vector<Frame> frames;
  for (int i = 0; i < 60; ++i) {
    frames.push_back(
        noisy_picture(clean_picture(format, 0.05 * i + (i < 30 - shift ? 0 : 2)), 20, i + 1));
    const int at = i + shift;
    for (int copies = at % 9 == 4 ? 5 : at % 4 == 0 ? 1 : 0; copies > 0; --copies)
      frames.push_back(frames.back());
  }
  return frames;
}

class ResumeOverTime : public Resume {
 protected:
  /// Frames of several segments depend on each other.
  void expect_resumed_bytes(const std::vector<Frame>& frames,
                            const std::vector<std::string>& options) {
    write_y4m(folder_ / "times.y4m", frames);
    convert(folder_ / "times.y4m", folder_ / "times.mkv", {.lossless = true});
    std::vector<std::string> more = {"-i", folder_ / "times.mkv", "--temporal",
                                     "2",  "--segment-frames",    "8"};
    more.insert(more.end(), options.begin(), options.end());
    const std::string expected = whole(more);
    run_and_kill(out_, more);
    // A missing segment between finished segments is encoded again, too.
    fs::remove(out_ + ".lull-job/000000.lullseg");
    std::vector<std::string> resumed = more;
    resumed.push_back("--resume");
    Program program(command(out_, resumed));
    const std::string third = out_ + ".lull-job/000004.lullseg";
    while (program.running() && !fs::exists(third)) std::this_thread::sleep_for(1ms);
    program.send(SIGKILL);
    ASSERT_EQ(program.wait().code, 128 + SIGKILL);
    fs::remove(out_ + ".lull-job/000002.lullseg");
    std::vector<std::string> other = resumed;
    other.insert(other.end(), {"--scene-cut", "off"});
    EXPECT_THAT(run_lull(command(out_, other)).err, HasSubstr("--scene-cut was 0.5 and is 0"));
    const Outcome outcome = run_lull(command(out_, resumed));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_TRUE(bytes_of(out_) == expected);
  }
};

TEST_F(ResumeOverTime, FramesEqualTheUninterruptedRun) {
  expect_resumed_bytes(clip_with_repeats_and_cut(0), {});
}

// The fields of either parity repeat at different positions and have different scene cuts.
TEST_F(ResumeOverTime, FieldsEqualTheUninterruptedRun) {
  std::vector<Frame> frames = clip_with_repeats_and_cut(0);
  const std::vector<Frame> odd = clip_with_repeats_and_cut(3);
  frames.resize(std::min(frames.size(), odd.size()));
  for (std::size_t n = 0; n < frames.size(); ++n) {
    Frame frame = clean_picture(format);
    for (int i = 0; i < 3; ++i)
      for (int y = 0; y < frame.planes[i].height; ++y)
        std::memcpy(frame.planes[i].row(y), (y % 2 == 0 ? frames : odd)[n].planes[i].row(y),
                    static_cast<std::size_t>(frame.planes[i].width));
    frames[n] = frame;
  }
  expect_resumed_bytes(frames, {"--interlaced", "fields"});
}

TEST_F(Resume, ReportsFinishedSegmentsAndCountsAllFrames) {
  run_and_kill(out_);
  fs::remove(out_ + ".lull-job/000000.lullseg");
  const Outcome outcome =
      run_lull(command(out_, {"--resume", "--log-level", "info", "--progress", "json"}));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("segments made again (damaged or missing): 0"));
  EXPECT_THAT(outcome.err, HasSubstr("continuing after"));
  EXPECT_THAT(outcome.err, HasSubstr("\"frames\":150"));
}

TEST_F(Resume, DamagedInputCanBeAcceptedLater) {
  std::string bytes = bytes_of(in_);
  write_bytes(in_, bytes.substr(0, bytes.size() * 2 / 3));
  const Outcome refused = run_lull(command(out_));
  EXPECT_EQ(refused.code, 65);
  EXPECT_EQ(refused.error_lines(), 1) << refused.err;
  EXPECT_FALSE(fs::exists(out_));
  const Outcome accepted = run_lull(command(out_, {"--resume", "--max-decode-errors", "100000"}));
  EXPECT_EQ(accepted.code, 0) << accepted.err;
  EXPECT_EQ(bytes_of(out_), whole({"--max-decode-errors", "100000"}));
}

TEST_F(Resume, SinglePictureOutputRejectsSegments) {
  const Outcome outcome = run_lull(command(out_, {"--keep", "3"}));
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.error_lines(), 1);
  EXPECT_THAT(outcome.err, HasSubstr("--segment-frames"));
}

TEST_F(Resume, IsRejectedWithoutSegments) {
  const Outcome outcome = run_lull({"denoise", "-i", in_, "-o", out_, "--sigma", "5", "--resume"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.error_lines(), 1);
  EXPECT_THAT(outcome.err, HasSubstr("--segment-frames"));
}

}  // namespace
}  // namespace lull::tools
