// Tests plans that other people have written or changed, with the right checksum: a process does
// only what a plan may request.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "io/segments/job_text.h"
#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using Words = std::vector<std::string>;

class ForeignPlan : public testing::Test {
 protected:
  static constexpr int frames = 25;

  void SetUp() override {
    std::vector<Frame> clip;
    for (int i = 0; i < frames; ++i)
      clip.push_back(noisy_picture(clean_picture({.width = 32, .height = 32}, 0.1 * i), 10, i + 1));
    write_y4m(folder_ / "in.y4m", clip);
    // FFmpeg's wrapper of libx265 leaks memory if it is closed before its first frame.
    ASSERT_EQ(run_lull({"plan", folder_ / "in.y4m", "-o", out_, "--sigma", "9", "--profile", "fast",
                        "--device", "cpu", "--segment-frames", "6", "--job", job_, "-q", "--vcodec",
                        "ffv1"})
                  .code,
              0);
    std::istringstream text(bytes_of(job_ + "/plan"));
    for (std::string line; std::getline(text, line);)
      if (!line.starts_with("sha256 ")) lines_.push_back(line);
    write_bytes(victim_, "precious");
  }
  void write_plan(const Words& lines) const {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    write_bytes(job_ + "/plan", io::with_checksum(text));
  }
  /// Writes the plan with one more option.
  void add_option(const std::string& name, const std::string& value) const {
    Words lines = lines_;
    lines.insert(lines.begin() + 1, "option " + name + " " + io::escaped(value));
    write_plan(lines);
  }
  /// Writes the plan without `count` frames from `first` on.
  void drop_frames(std::size_t first, std::size_t count) const {
    Words lines = lines_;
    const auto begin = std::ranges::find_if(
        lines, [](const std::string& line) { return line.starts_with("frame "); });
    lines.erase(begin + static_cast<std::ptrdiff_t>(first),
                begin + static_cast<std::ptrdiff_t>(first + count));
    write_plan(lines);
  }
  Outcome denoise(const Words& more = {}) const {
    Words words = {"denoise", "--job", job_, "--log-level", "error"};
    words.insert(words.end(), more.begin(), more.end());
    return run_lull(words);
  }
  static void expect(const Outcome& outcome, int code, const std::string& text) {
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(text));
  }
  Folder folder_;
  const std::string job_ = folder_ / "job", out_ = folder_ / "out.mkv",
                    victim_ = folder_ / "victim";
  Words lines_;
};

TEST_F(ForeignPlan, CannotSetLocalOptions) {
  const std::pair<std::string, std::string> options[] = {{"--metrics-file", victim_},
                                                         {"--log-file", victim_},
                                                         {"--report", victim_},
                                                         {"--grain-table", victim_},
                                                         {"--noise-map", victim_},
                                                         {"-o,--output", victim_},
                                                         {"-y,--overwrite", ""},
                                                         {"--allow-protocol", "http"},
                                                         {"--progress-fd", "1"},
                                                         {"-i,--input", victim_},
                                                         {"--resume", ""},
                                                         {"--job", "/tmp"},
                                                         {"--vopts", "stats=" + victim_}};
  for (const auto& [name, value] : options) {
    SCOPED_TRACE(name);
    add_option(name, value);
    expect(denoise(), 65, name == "--vopts" ? "gives a file to the encoder" : name);
    expect(run_lull({"join", job_}), 65, "plan");
    EXPECT_EQ(bytes_of(victim_), "precious");
    EXPECT_EQ(folder_.names(), (Words{"in.y4m", "job", "victim"}));
  }
}

TEST_F(ForeignPlan, InvalidOptionValuesAreBadData) {
  for (const auto& [name, value] : {std::pair<std::string, std::string>{"--crf", "x"},
                                    {"--max-decode-errors", "99999999999999999999"},
                                    {"--max-decode-errors", ""},
                                    {"--keep", "3"},
                                    {"--no-such", "1"}}) {
    SCOPED_TRACE(name);
    add_option(name, value);
    expect(denoise(), 65, name);
    expect(run_lull({"join", job_}), 65, name);
  }
}

TEST_F(ForeignPlan, MissingFramesAreBadData) {
  drop_frames(0, frames);
  expect(denoise(), 65, "it has no frames");
  expect(run_lull({"join", job_}), 65, "it has no frames");
  expect(run_lull({"report", job_}), 65, "it has no frames");
  for (const auto& [first, count] :
       {std::pair<std::size_t, std::size_t>{0, 5}, {8, 4}, {24, 1}, {18, 7}, {1, 24}}) {
    drop_frames(first, count);
    for (int i = 0; i < 3; ++i)  // the sink may notice the end of the input early or late
      EXPECT_EQ(denoise().code, 65) << first << " " << count;
    EXPECT_EQ(run_lull({"join", job_}).code, 75);
    EXPECT_FALSE(fs::exists(out_));
    for (const std::string name : {"0", "1", "2", "3", "4"})
      fs::remove(job_ + "/00000" + name + ".lullseg");
  }
}

TEST_F(ForeignPlan, UnreadablePlanIsNoInput) {
  fs::remove(job_ + "/plan");
  ASSERT_EQ(::mkfifo((job_ + "/plan").c_str(), 0600), 0);
  expect(denoise(), 66, "it is a pipe");
  expect(run_lull({"join", job_}), 66, "it is a pipe");
  expect(run_lull({"report", job_}), 66, "it is a pipe");
  fs::remove(job_ + "/plan");
  fs::create_symlink("/dev/zero", job_ + "/plan");
  expect(denoise(), 66, "it is a device");
}

TEST_F(ForeignPlan, PipeAsInputIsNotOpened) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  Words lines = lines_;
  for (std::string& line : lines)
    if (line.starts_with("input ")) line = "input " + (folder_ / "pipe");
  write_plan(lines);
  expect(denoise(), 66, "not a regular file");
  expect(run_lull({"join", job_}), 66, "not a regular file");
  EXPECT_EQ(denoise({"-i", folder_ / "in.y4m", "--segment", "0"}).code, 0);
}

TEST_F(ForeignPlan, SegmentsAreNotWrittenThroughLinks) {
  fs::create_symlink(victim_, job_ + "/000001.lullseg");
  fs::create_symlink(folder_ / "new", job_ + "/000002.lullseg");
  fs::create_symlink(victim_, job_ + "/result");
  EXPECT_EQ(denoise().code, 0);
  EXPECT_EQ(run_lull({"join", job_}).code, 0);
  EXPECT_EQ(bytes_of(victim_), "precious");
  EXPECT_FALSE(fs::exists(folder_ / "new"));
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  fs::remove(job_ + "/000003.lullseg");
  fs::create_symlink(folder_ / "pipe", job_ + "/000003.lullseg");
  expect(run_lull({"join", job_, "-y"}), 75, "segment 3 is damaged");
  // The report page that is written by default does not follow links either.
  fs::create_symlink(victim_, job_ + ".html");
  EXPECT_EQ(run_lull({"report", job_, "-q"}).code, 0);
  EXPECT_EQ(bytes_of(victim_), "precious");
}

/// Returns how many bytes this process and its children have read.
long bytes_read() {
  std::ifstream file("/proc/self/io");
  std::string name;
  long bytes = -1;
  file >> name >> bytes;
  return bytes;
}

TEST_F(ForeignPlan, JoinReadsEachSegmentOnce) {
  if (bytes_read() < 0) GTEST_SKIP() << "the kernel does not count what is read";
  // The clip is pure noise and is stored without loss, so the segments are larger than everything
  // else that a process reads.
  const FrameFormat large{.width = 512, .height = 512};
  std::vector<Frame> clip;
  for (int i = 0; i < 12; ++i)
    clip.push_back(noisy_picture(clean_picture(large), 60, static_cast<unsigned>(i) + 1));
  write_y4m(folder_ / "large.y4m", clip);
  const std::string job = folder_ / "large";
  ASSERT_EQ(run_lull({"plan", folder_ / "large.y4m", "-o", out_, "--sigma", "0.1", "--phases", "1",
                      "--profile", "fast", "--lossless", "--device", "cpu", "--segment-frames", "4",
                      "--job", job, "-q"})
                .code,
            0);
  ASSERT_EQ(run_lull({"denoise", "--job", job, "-q"}).code, 0);
  long segments = 0;
  for (const auto& entry : fs::directory_iterator(job))
    if (entry.path().extension() == ".lullseg") segments += static_cast<long>(entry.file_size());
  const auto input = static_cast<long>(fs::file_size(folder_ / "large.y4m"));
  const long before = bytes_read();
  ASSERT_EQ(run_lull({"--version"}).code, 0);
  const long program = bytes_read() - before;
  ASSERT_EQ(run_lull({"join", job, "-q"}).code, 0);
  const long joined = bytes_read() - before - 2 * program;
  // The input is read for its digest, and a second time if it has other streams.
  EXPECT_LT(joined, input + segments + segments / 2 + (1 << 20))
      << input << " " << segments << " " << program;
}

}  // namespace
}  // namespace lull::tools
