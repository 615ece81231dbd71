// Tests the output of a run: progress in each form, levels of messages, the log file.

#include "tools/report/progress.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "core/error.h"
#include "tools/report/json.h"
#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

class RunOutput : public testing::Test {
 protected:
  void SetUp() override {
    write_y4m(
        folder_ / "in.y4m",
        std::vector<Frame>(40, noisy_picture(clean_picture({.width = 48, .height = 32}), 20)));
  }
  std::vector<std::string> command(const std::vector<std::string>& more) const {
    std::vector<std::string> all{"denoise", "-i", folder_ / "in.y4m", "-o",  folder_ / "out.mkv",
                                 "--sigma", "20", "--device",         "cpu", "--profile",
                                 "fast",    "-y"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  /// Runs the command with a file on descriptor 3, to which the progress goes.
  Outcome run_with_fd(const std::vector<std::string>& more, std::string& progress) const {
    const std::string file = folder_ / "progress";
    const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    EXPECT_GE(descriptor, 0);
    std::vector<std::string> all = command(more);
    all.insert(all.end(), {"--progress-fd", std::to_string(descriptor)});
    const Outcome outcome = run_lull(all);
    close(descriptor);
    progress = bytes_of(file);
    return outcome;
  }
  Folder folder_;
};

/// Checks each line against the progress schema. Returns an empty string if all lines are valid,
/// and "skip: ..." if they cannot be checked.
std::string against_schema(const std::string& text, const Folder& folder) {
  write_bytes(folder / "lines", text);
  write_bytes(folder / "check.py",
              "import json, sys\n"
              "try:\n"
              "    import jsonschema\n"
              "    make = jsonschema.Draft202012Validator\n"
              "except (ImportError, AttributeError) as error:\n"
              "    sys.exit('skip: %s' % error)\n"
              "schema = json.load(open(sys.argv[1]))\n"
              "make.check_schema(schema)\n"
              "for line in open(sys.argv[2], encoding='utf-8'):\n"
              "    make(schema).validate(json.loads(line))\n");
  const std::string command = python() + " '" + folder / "check.py" +
                              "' '" LULL_SOURCE "/docs/progress.schema.json' '" + folder / "lines" +
                              "' >'" + folder / "verdict" + "' 2>&1";
  const int code = std::system(command.c_str());
  if (code == 0) return {};
  const std::string verdict = bytes_of(folder / "verdict");
  return verdict.find(": not found") == std::string::npos ? verdict : "skip: no python3";
}

void expect_schema(const std::string& text) {
  const Folder folder;
  const std::string verdict = against_schema(text, folder);
  if (verdict.starts_with("skip: ")) GTEST_SKIP() << verdict;
  EXPECT_EQ(verdict, "");
}

TEST_F(RunOutput, JsonProgressDescribesTheRun) {
  std::string progress;
  const Outcome outcome = run_with_fd({"--progress", "json"}, progress);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, Not(HasSubstr("{")));
  const std::vector<std::string> lines = lines_of(progress);
  ASSERT_GE(lines.size(), 3u);
  EXPECT_THAT(lines.front(), HasSubstr("\"event\":\"start\""));
  EXPECT_THAT(lines.front(), HasSubstr("\"width\":48,\"height\":32"));
  EXPECT_THAT(lines.front(), HasSubstr("\"devices\":[\"cpu\"]"));
  EXPECT_THAT(lines[1], StartsWith("{\"event\":\"progress\",\"frames\":1,"));
  EXPECT_THAT(lines.back(),
              StartsWith("{\"event\":\"end\",\"status\":\"done\",\"exit_code\":0,\"frames\":40,"));
  expect_schema(progress);
}

TEST_F(RunOutput, JsonProgressReportsFailures) {
  std::string progress;
  const Outcome outcome = run_with_fd({"--progress", "json", "-i", folder_ / "missing"}, progress);
  EXPECT_EQ(outcome.code, 2);  // -i twice
  EXPECT_EQ(progress, "");
  write_bytes(folder_ / "in.y4m", "YUV4MPEG2 W4 H4 nonsense\xff\n");
  EXPECT_EQ(run_with_fd({"--progress", "json"}, progress).code, 65);
  EXPECT_THAT(lines_of(progress), testing::SizeIs(1));
  EXPECT_THAT(progress, HasSubstr("\"status\":\"failed\",\"exit_code\":65"));
  expect_schema(progress);
}

TEST(ProgressSchema, RejectsInvalidLines) {
  const Folder folder;
  for (const std::string line :
       {"{}", "{\"event\":\"start\"}", "[]",
        "{\"event\":\"end\",\"status\":\"gone\",\"exit_code\":0,\"frames\":1,\"damaged_frames\":0,"
        "\"seconds\":1,\"fps\":1,\"message\":null}"}) {
    const std::string verdict = against_schema(line + "\n", folder);
    if (verdict.starts_with("skip: ")) GTEST_SKIP() << verdict;
    EXPECT_NE(verdict, "") << line;
  }
}

TEST_F(RunOutput, ProgressFormsDifferOnTerminals) {
  EXPECT_EQ(lines_of(run_lull(command({"--progress", "none"})).err).size(), 1u);  // the summary
  const Outcome bar = run_lull(command({"--progress", "bar"}));
  EXPECT_THAT(bar.err, Not(HasSubstr("\033")));  // no terminal
  const Outcome terminal = run_lull(command({"--progress", "plain"}), {.terminal = true});
  EXPECT_EQ(terminal.code, 0);
  EXPECT_EQ(run_lull(command({"-q"})).err, "");
  EXPECT_EQ(run_lull(command({"-q"}), {.terminal = true}).err, "");
  std::string progress;
  EXPECT_EQ(run_with_fd({"-q", "--progress", "json"}, progress).err, "");
  EXPECT_THAT(progress, HasSubstr("\"event\":\"end\""));
}

TEST_F(RunOutput, ClosedOrBlockedReaderDoesNotStopTheRun) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const int size = fcntl(ends[1], F_SETPIPE_SZ, 4096);  // one page, which is now filled
  ASSERT_GT(size, 0);
  const std::string rubbish(static_cast<std::size_t>(size), 'x');
  ASSERT_EQ(write(ends[1], rubbish.data(), rubbish.size()), size);
  const auto fd = std::to_string(ends[1]);
  EXPECT_EQ(run_lull(command({"--progress", "json", "--progress-fd", fd})).code, 0);
  close(ends[0]);
  // Neither the test nor the command has an open reading end of the pipe any more.
  EXPECT_EQ(run_lull(command({"--progress", "json", "--progress-fd", fd})).code, 0);
  close(ends[1]);
}

TEST_F(RunOutput, RejectsInvalidDescriptors) {
  for (const char* descriptor : {"99", "-1", "x", "0"}) {  // 0 is open for reading
    const Outcome outcome = run_lull(command({"--progress-fd", descriptor}));
    EXPECT_EQ(outcome.code, 2) << descriptor;
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
  }
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"in.y4m"});
}

TEST_F(RunOutput, LogLevelSelectsMessages) {
  for (const char* level : {"error", "warning"})
    EXPECT_EQ(run_lull(command({"--log-level", level, "--progress", "none"})).err, "");
  const std::string info = run_lull(command({"--log-level", "info"})).err;
  EXPECT_THAT(info, HasSubstr("40 frames"));
  EXPECT_THAT(info, Not(HasSubstr("debug")));
  const Outcome debug = run_lull(command({"--log-level", "debug"}));
  EXPECT_EQ(debug.out, "");
  EXPECT_THAT(debug.err, HasSubstr("lull: debug: input: yuv4mpegpipe, rawvideo"));
  EXPECT_EQ(run_lull(command({"--log-level", "loud"})).code, 2);
}

TEST_F(RunOutput, LogFileIsAppendedTo) {
  const std::string log = folder_ / "log";
  EXPECT_EQ(run_lull(command({"-q", "--log-file", log})).err, "");
  const std::string first = bytes_of(log);
  EXPECT_THAT(first, ContainsRegex("^2[0-9]{3}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\\.[0-9]{3}Z info "));
  EXPECT_THAT(lines_of(first), testing::SizeIs(1));
  write_bytes(folder_ / "in.y4m", "");
  EXPECT_EQ(run_lull(command({"--log-file", log})).code, 65);
  const std::vector<std::string> lines = lines_of(bytes_of(log));
  ASSERT_EQ(lines.size(), 2u);  // the file was appended to
  EXPECT_EQ(lines[0] + "\n", first);
  EXPECT_THAT(lines[1], HasSubstr("Z error '"));
  EXPECT_EQ(run_lull(command({"--log-file", folder_ / "no/log"})).code, 73);
  EXPECT_EQ(run_lull(command({"--log-file", folder_ / "in.y4m"})).code, 2);
  EXPECT_EQ(run_lull(command({"--log-file", folder_ / "out.mkv"})).code, 2);
  EXPECT_EQ(bytes_of(folder_ / "in.y4m"), "");
}

TEST_F(RunOutput, LogOnAFullDiskDoesNotStopTheRun) {
  const Outcome outcome = run_lull(command({"--log-file", "/dev/full"}));
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("warning: the log"));
}

TEST(JsonText, EncodesAnyBytesAndKeepsTheOrderOfMembers) {
  EXPECT_EQ(json_text({{"b", "a\"b\\c\n\x01"}, {"a", 1}}),
            "{\"b\":\"a\\\"b\\\\c\\n\\u0001\",\"a\":1}");
  EXPECT_EQ(json_text("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"),
            "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"");
  // Invalid UTF-8: a truncated and an overlong sequence, a surrogate, a value beyond the last code
  // point, and a lone continuation byte.
  for (const std::string bad :
       {"\xc3", "\xe2\x82", "\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\x80", "\xff"})
    EXPECT_THAT(json_text(bad), StartsWith("\"\xef\xbf\xbd")) << bad;
}

}  // namespace
}  // namespace lull::tools
