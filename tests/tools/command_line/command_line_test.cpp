// Tests the command line as a new user writes it: names without -i and -o, typing errors, help that
// fits on one screen.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tools/options/suggestion.h"
#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

class CommandLine : public testing::Test {
 protected:
  void SetUp() override {
    const Frame noisy = noisy_picture(clean_picture({.width = 24, .height = 16}), 20);
    write_pnm(folder_ / "in.pgm", noisy);
    write_pnm(folder_ / "probe", noisy);
  }
  Outcome run(std::vector<std::string> arguments) const {
    return run_lull(arguments, {.folder = folder_ / "."});
  }
  /// Denoises in.pgm to out.pgm.
  void expect_done(std::vector<std::string> arguments) {
    SCOPED_TRACE(testing::PrintToString(arguments));
    arguments.insert(arguments.end(), {"--device", "reference", "-y"});
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    ASSERT_THAT(folder_.names(), testing::Contains("out.pgm"));
    std::filesystem::remove(folder_ / "out.pgm");
  }
  void expect_refused(const std::vector<std::string>& arguments, const std::string& part) {
    SCOPED_TRACE(testing::PrintToString(arguments));
    const std::vector<std::string> before = folder_.names();
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(part));
    EXPECT_EQ(folder_.names(), before);
  }
  Folder folder_;
};

TEST_F(CommandLine, AcceptsNamesWithAndWithoutOptions) {
  for (const std::vector<std::string>& names :
       std::vector<std::vector<std::string>>{{"in.pgm", "out.pgm", "--sigma", "20"},
                                             {"--sigma", "20", "in.pgm", "out.pgm"},
                                             {"in.pgm", "-s", "20", "out.pgm"},
                                             {"-i", "in.pgm", "out.pgm", "-s20"},
                                             {"in.pgm", "-o", "out.pgm", "-s20"},
                                             {"-o", "out.pgm", "in.pgm", "-s20"},
                                             {"out.pgm", "-i", "in.pgm", "-s20"},
                                             {"-i", "in.pgm", "-o", "out.pgm", "-s20"}}) {
    expect_done(names);
    std::vector<std::string> named = names;
    named.insert(named.begin(), "denoise");
    expect_done(named);
  }
}

TEST_F(CommandLine, TwoNamesSuffice) { expect_done({"in.pgm", "out.pgm"}); }

TEST_F(CommandLine, RejectsExcessNames) {
  expect_refused({"in.pgm", "out.pgm", "more.pgm", "-s20"}, "'more.pgm' is an unexpected argument");
  expect_refused({"in.pgm", "more.pgm", "-i", "probe", "-s20"},
                 "'more.pgm' is an unexpected argument");
  expect_refused({"-i", "in.pgm", "-o", "out.pgm", "more.pgm", "-s20"}, "'more.pgm'");
  expect_refused({"devices", "all"}, "'all' is an unexpected argument");
}

TEST_F(CommandLine, ReportsMissingNames) {
  expect_refused({"in.pgm"}, "no output for 'in.pgm'");
  expect_refused({"--sigma", "20"}, "no input");
  expect_refused({"preview"}, "INPUT");
}

TEST_F(CommandLine, CommandTakesPrecedenceOverAFile) {
  expect_refused({"probe", "out.pgm", "--sigma", "20"}, "--sigma (of lull probe)");
  expect_done({"./probe", "out.pgm", "-s20"});
  expect_done({"denoise", "probe", "out.pgm", "-s20"});
  const Outcome file = run({"probe", "probe"});
  EXPECT_EQ(file.code, 0) << file.err;
}

TEST_F(CommandLine, SuggestsTheNearestOption) {
  expect_refused({"in.pgm", "out.pgm", "--sgima", "20"}, "did you mean --sigma?");
  expect_refused({"in.pgm", "out.pgm", "--sgima=20"}, "no such option: --sgima (");
  expect_refused({"in.pgm", "--overwite", "out.pgm", "-s20"}, "did you mean --overwrite?");
  expect_refused({"probe", "in.pgm", "--jsn"}, "did you mean --json?");
  expect_refused({"preview", "--hlep"}, "did you mean --help?");
  expect_refused({"prob", "in.pgm"}, "did you mean probe?");
  expect_refused({"compair", "in.pgm", "in.pgm"}, "did you mean compare?");
  expect_refused({"help", "denose"}, "did you mean denoise?");
  expect_refused({"completion", "zhs"}, "did you mean zsh?");
  expect_refused({"help", "--format", "markdwon"}, "did you mean markdown?");
  const auto value = [&](const char* option, const char* text, const char* part) {
    expect_refused({"in.pgm", "out.pgm", "-s20", option, text}, part);
  };
  value("--profile", "hihg", "did you mean high?");
  value("--profile", "Fast", "did you mean fast?");
  value("--transform", "dtc", "did you mean dct?");
  value("--device", "gpu", "must be auto");
  value("--device", "cdua", "did you mean cuda?");
  value("--interlaced", "feilds", "did you mean fields?");
  value("--sigma-scale", "8bits", "did you mean 8bit?");
  value("--hwaccel", "cuba", "did you mean cuda?");
  value("--progress", "jsno", "did you mean json?");
  value("--log-level", "warn", "did you mean warning?");
  // No option is similar to this one.
  const Outcome outcome = run({"in.pgm", "out.pgm", "--frobnicate"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, Not(HasSubstr("did you mean")));
  EXPECT_THAT(outcome.err, HasSubstr("see lull denoise --help-all"));
}

TEST(Suggestion, IsTheNearestWord) {
  const std::vector<std::string> words{"--sigma", "--sigma-scale", "--size", "--step", "--start"};
  EXPECT_EQ(nearest_word("--sgima", words), "--sigma");
  EXPECT_EQ(nearest_word("sigm", words), "--sigma");
  EXPECT_EQ(nearest_word("--sigma-scal", words), "--sigma-scale");
  EXPECT_EQ(nearest_word("--SIZE", words), "--size");
  EXPECT_EQ(nearest_word("--stat", words), "--start");
  for (const std::string& far : {std::string(), std::string("--"), std::string("-x"),
                                 std::string("--quality"), std::string(100000, 's')})
    EXPECT_EQ(nearest_word(far, words), "") << far.substr(0, 20);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST_F(CommandLine, HelpFitsOnAScreen) {
  for (const char* command : {"", "denoise", "plan", "join", "preview", "compare", "probe",
                              "devices", "help", "completion"}) {
    SCOPED_TRACE(command);
    std::vector<std::string> ask{"--help"};
    if (*command) ask.insert(ask.begin(), command);
    const Outcome help = run(ask);
    EXPECT_EQ(help.code, 0);
    EXPECT_EQ(help.err, "");
    const std::vector<std::string> lines = lines_of(help.out);
    EXPECT_LE(lines.size(), 23u);  // leaves a line for the prompt
    for (const std::string& line : lines) EXPECT_LE(line.size(), 79u) << line;
    EXPECT_THAT(help.out, HasSubstr("--help-all"));
    ask.back() = "--help-all";
    const Outcome whole = run(ask);
    EXPECT_EQ(whole.code, 0);
    EXPECT_GE(whole.out.size(), help.out.size() - 100);
    for (const std::string& line : lines_of(whole.out)) EXPECT_LE(line.size(), 79u) << line;
  }
  const std::string basic = run({"denoise", "--help"}).out;
  for (const char* option : {"--sigma", "--profile", "--device", "--overwrite", "--crf"})
    EXPECT_THAT(basic, HasSubstr(option));
  EXPECT_THAT(basic, Not(HasSubstr("--kaiser")));
  const std::string all = run({"--help-all"}).out;
  for (const char* part : {"--kaiser", "--csv", "--at TIME|X,Y,Z", "Exit codes:", "bash or zsh"})
    EXPECT_THAT(all, HasSubstr(part));
}

TEST_F(CommandLine, HelpOfDenoisingCommandsHasEachGroupOnce) {
  const std::vector<std::string> groups{
      "Basic:", "Video:", "Volumes:", "Renders and depth maps:", "Input and output:",
      "Run:",   "Tuning:"};
  for (const char* command : {"denoise", "plan", "preview"}) {
    std::vector<std::string> headings;
    for (const std::string& line : lines_of(run({command, "--help-all"}).out)) {
      if (line == "Exit codes:" || line == "Examples:") break;
      if (line.ends_with(':') && !line.starts_with(' ')) headings.push_back(line);
    }
    EXPECT_EQ(headings, groups) << command;
  }
}

}  // namespace
}  // namespace lull::tools
