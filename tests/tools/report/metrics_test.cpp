// Tests the metrics for Prometheus: the text format, and that the file is always complete.

#include "tools/report/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include "core/error.h"
#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using ::testing::HasSubstr;

/// Checks the rules of https://prometheus.io/docs/instrumenting/exposition_formats: each family has
/// HELP and TYPE before its samples, once, and every line is one of these.
void expect_format(const std::string& text) {
  const std::regex help("# HELP ([a-z_]+) [^\\n]+"), type("# TYPE ([a-z_]+) (counter|gauge)");
  const std::regex sample(
      R"re(([a-z_]+)\{([a-z]+="(\\[\\"n]|[^"\\\n])*",?)+\} -?[0-9.]+(e[-+][0-9]+)?)re");
  std::istringstream lines(text);
  std::set<std::string> families;
  std::string family, line;
  bool typed = false;
  while (std::getline(lines, line)) {
    std::smatch found;
    if (std::regex_match(line, found, help)) {
      family = found[1];
      EXPECT_TRUE(families.insert(family).second) << family << " twice";
      typed = false;
    } else if (std::regex_match(line, found, type)) {
      EXPECT_EQ(found[1], family);
      EXPECT_EQ(found[2] == "counter", family.ends_with("_total")) << family;
      typed = true;
    } else {
      ASSERT_TRUE(std::regex_match(line, found, sample)) << line;
      EXPECT_EQ(found[1], family);
      EXPECT_TRUE(typed) << line;
    }
  }
  EXPECT_TRUE(text.ends_with("\n"));
  EXPECT_GE(families.size(), 10u);
}

TEST(Metrics, FollowTheTextFormat) {
  const Folder folder;
  Metrics metrics(folder / "m.prom");
  metrics.start({.output = "a\\b\"c\nd\xff.mkv", .devices = {"cuda:0", "cuda:1"}, .frames = 50});
  metrics.update({}, 1, {8.5, 4, 3});
  pipeline::PipelineStats stats{.frames = 7, .skipped = 2, .seconds = 3.5};
  stats.busy = {0.5, 3, 1};
  const std::string text = metrics.text(stats, 0, 4);
  expect_format(text);
  const std::string output = R"(output="a\\b\"c\nd)"
                             "\xef\xbf\xbd.mkv\"";
  for (const std::string& line :
       {"lull_frames_total{" + output + "} 7\n", "lull_frames_skipped_total{" + output + "} 2\n",
        "lull_frames_expected{" + output + "} 50\n",
        "lull_damaged_frames_total{" + output + "} 4\n", "lull_run_seconds{" + output + "} 3.5\n",
        "lull_stage_busy_seconds_total{" + output + ",stage=\"denoise\"} 3\n",
        "lull_scene{" + output + "} 1\n", "lull_noise_sigma{" + output + ",plane=\"0\"} 8.5\n",
        "lull_finished{" + output + "} 1\n", "lull_exit_code{" + output + "} 0\n"})
    EXPECT_THAT(text, HasSubstr(line));
  EXPECT_THAT(metrics.text(stats, -1, 0), HasSubstr("lull_finished{" + output + "} 0\n"));
  EXPECT_EQ(folder.names(), std::vector<std::string>{"m.prom"});
}

TEST(Metrics, ReportHowARunEnded) {
  const Folder folder;
  const Frame picture = noisy_picture(clean_picture({.width = 48, .height = 32}), 20);
  write_y4m(folder / "in.y4m", std::vector<Frame>(5, picture));
  const auto run = [&](const std::string& in, const std::string& file) {
    return run_lull({"denoise", folder / in, folder / "out.y4m", "-y", "--sigma", "20", "--device",
                     "cpu", "--metrics-file", folder / file});
  };
  ASSERT_EQ(run("in.y4m", "m.prom").code, 0);
  const std::string text = bytes_of(folder / "m.prom");
  expect_format(text);
  EXPECT_THAT(text, ::testing::ContainsRegex("lull_frames_total[^\n]* 5\n"));
  EXPECT_THAT(text, ::testing::ContainsRegex("lull_noise_sigma[^\n]* 20\n"));
  EXPECT_THAT(text, ::testing::ContainsRegex("lull_exit_code[^\n]* 0\n"));
  EXPECT_EQ(run("no.y4m", "m.prom").code, 66);
  EXPECT_THAT(bytes_of(folder / "m.prom"), ::testing::ContainsRegex("lull_exit_code[^\n]* 66\n"));
  EXPECT_EQ(run("in.y4m", "no/m.prom").code, 73);
  EXPECT_EQ(run("in.y4m", "in.y4m").code, 2);
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"in.y4m", "m.prom", "out.y4m"}));
}

TEST(Metrics, UnwritableFileIsAnIoErrorAndLeavesNothing) {
  const Folder folder;
  write_y4m(folder / "in.y4m", {clean_picture({.width = 48, .height = 32})});
  ProcessSetup limited;
  limited.file_size_limit = 8;  // bytes: fewer than the first line has
  const Outcome outcome = run_lull({"denoise", folder / "in.y4m", "null", "--sigma", "20",
                                    "--device", "cpu", "--metrics-file", folder / "m.prom"},
                                   limited);
  EXPECT_EQ(outcome.code, 74) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("m.prom cannot be written"));
  EXPECT_EQ(folder.names(), std::vector<std::string>{"in.y4m"});
}

TEST(Metrics, FoldersAndDevicesCannotBeReplaced) {
  const Folder folder;
  write_y4m(folder / "in.y4m", {clean_picture({.width = 48, .height = 32})});
  for (const std::string& name : {folder / "", std::string("/dev/null")}) {
    const Outcome outcome = run_lull({"denoise", folder / "in.y4m", "null", "--sigma", "20",
                                      "--device", "cpu", "--metrics-file", name});
    EXPECT_EQ(outcome.code, 73) << outcome.err;
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("cannot be created"));
  }
}

}  // namespace
}  // namespace lull::tools
