// Tests which options the plan of a shared job may set for the processes that work on the job.

#include "tools/options/plan_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/error.h"
#include "tools/options/given.h"

namespace lull::tools {
namespace {

using ::testing::HasSubstr;

/// A new option is in neither list, so the test fails until a developer adds it to one of them.
const std::set<std::string_view> planned = {"--align",
                                            "--axis",
                                            "--batch",
                                            "--cluster",
                                            "--crf",
                                            "--cube",
                                            "--datatype",
                                            "--depth",
                                            "--drop",
                                            "--duration",
                                            "--fallback",
                                            "--feature",
                                            "--frames",
                                            "--grain",
                                            "--group",
                                            "--group-transform",
                                            "--guide",
                                            "--guide-noise",
                                            "--hwaccel",
                                            "--input-format",
                                            "--interlaced",
                                            "--invalid",
                                            "--kaiser",
                                            "--keep",
                                            "--lambda",
                                            "--lambda-mean",
                                            "--keep-times",
                                            "--lossless",
                                            "--matcher",
                                            "--max-decode-errors",
                                            "--max-frames",
                                            "--max-memory",
                                            "--max-pixels",
                                            "--max-streams",
                                            "--method",
                                            "--mu2",
                                            "--mu2-mean",
                                            "--constant-areas",
                                            "--near-temporal-window",
                                            "--near-window",
                                            "--nlm-h",
                                            "--noise",
                                            "--outside",
                                            "--output-format",
                                            "--patch-radius",
                                            "--phases",
                                            "--pix-fmt",
                                            "--bits",
                                            "--dither",
                                            "--place-bonus",
                                            "--rate",
                                            "--raw-format",
                                            "--scale",
                                            "--scene-cut",
                                            "--search-radius",
                                            "--search-step",
                                            "--second-search",
                                            "--segment-frames",
                                            "--sigma-model",
                                            "--series",
                                            "--series-uid",
                                            "--sigma-scale",
                                            "--size",
                                            "--stack",
                                            "--start",
                                            "--step",
                                            "--streams",
                                            "--strength",
                                            "--strict-metadata",
                                            "--tau",
                                            "--temporal",
                                            "--temporal-window",
                                            "--threads",
                                            "--transform",
                                            "--vcodec",
                                            "--vopts",
                                            "--weights",
                                            "--white",
                                            "--layer",
                                            "--video",
                                            "--window",
                                            "-d,--device",
                                            "-p,--profile",
                                            "-s,--sigma"};
const std::set<std::string_view> local = {
    "INPUT",          "OUTPUT",           "-i,--input",    "-o,--output",     "-y,--overwrite",
    "-q,--quiet",     "--progress",       "--progress-fd", "--log-level",     "--log-file",
    "--metrics-file", "--report",         "--reference",   "--report-frames", "--job",
    "--segment",      "--allow-protocol", "--grain-table", "--mask",          "--noise-map",
    "--resume",       "--repair",         "--residuals",   "--config",        "--preset",
    "--raw"};

io::JobPlan plan_with(const std::vector<std::pair<std::string, std::string>>& options) {
  io::JobPlan plan;
  plan.options = options;
  plan.input = "/in.mkv";
  plan.output = "/out.mkv";
  plan.segment_frames = 9;
  return plan;
}

std::string refusal(const std::vector<std::pair<std::string, std::string>>& options) {
  try {
    (void)options_of_plan(plan_with(options));
  } catch (const BadData& error) {
    return error.what();
  }
  return "none";
}

TEST(PlanOptions, EveryOptionIsEitherPlannedOrLocal) {
  for (const OptionRow& row : denoise_option_table()) {
    EXPECT_EQ(planned.contains(row.names) + local.contains(row.names), 1) << row.names;
    EXPECT_EQ((row.uses & kept_by_plan) != 0, planned.contains(row.names)) << row.names;
  }
}

TEST(PlanOptions, AppliesOptionsInOrder) {
  const DenoiseOptions options =
      options_of_plan(plan_with({{"-s,--sigma", "5"}, {"--crf", "20"}, {"-s,--sigma", "9"}}));
  EXPECT_EQ(options.noise.sigma->front(), 9);
  EXPECT_EQ(options.output.crf, 20);
}

TEST(PlanOptions, RejectsLocalOptions) {
  for (const std::string_view names : local)
    EXPECT_THAT(refusal({{std::string(names), "x"}}), HasSubstr("only the command line")) << names;
  EXPECT_THAT(refusal({{"--no-such", ""}}), HasSubstr("does not know (--no-such)"));
  // Only the full names in the option table are accepted.
  EXPECT_THAT(refusal({{"--output", "x"}}), HasSubstr("does not know"));
}

TEST(PlanOptions, InvalidValuesAreBadData) {
  EXPECT_THAT(refusal({{"--crf", "x"}}), HasSubstr("invalid options: --crf x"));
  EXPECT_THAT(refusal({{"--lossless", ""}, {"--crf", "20"}}), HasSubstr("--lossless with --crf"));
  EXPECT_THAT(refusal({{"--keep", "3"}}), HasSubstr("--keep with --segment-frames"));
  EXPECT_EQ(refusal({{"-s,--sigma", "5"}}), "none");
}

TEST(PlanOptions, RejectsFilesMissingFromThePlan) {
  EXPECT_THAT(refusal({{"--guide", "/etc/passwd"}}),
              HasSubstr("does not list the file of its guide"));
  EXPECT_THAT(refusal({{"--feature", "albedo=/etc/passwd"}}),
              HasSubstr("does not list the file of --feature albedo"));
  io::JobPlan plan = plan_with({{"-s,--sigma", "5"}, {"--guide", "g.mkv"}});
  plan.additional.push_back(
      {.name = "--guide", .input = "/there/g.mkv", .sample = {}, .index = {}});
  EXPECT_EQ(options_of_plan(plan).method.guide, "/there/g.mkv");
}

TEST(PlanOptions, RejectsEncoderOptionsThatNameFiles) {
  for (const std::string vopts :
       {"stats=/home/a/.profile", "x264-params=dump-yuv=x", "x265-params=crf=9\\:csv=/tmp/x"})
    EXPECT_THAT(refusal({{"--vopts", vopts}}), HasSubstr("gives a file to the encoder")) << vopts;
  DenoiseOptions given = minimal();
  apply(given, "--vopts", "stats=x");
  EXPECT_THROW((void)options_for_plan(given), InvalidArgument);
}

TEST(PlanOptions, PlanGetsOnlyPlannedOptions) {
  DenoiseOptions given = minimal();
  given.given = {
      {"-s,--sigma", "5"}, {"--report", "p.html"}, {"--crf", "20"}, {"-y,--overwrite", ""}};
  EXPECT_THAT(options_for_plan(given),
              ::testing::ElementsAre(std::pair("-s,--sigma", "5"), std::pair("--crf", "20")));
}

}  // namespace
}  // namespace lull::tools
