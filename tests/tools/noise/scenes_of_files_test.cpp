// Tests files with scenes that contain none of the eight positions that are examined in advance.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/pictures.h"
#include "tools/noise/noise_record.h"
#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

constexpr FrameFormat yuv{
    .width = 128, .height = 96, .layout = Layout::yuv, .chroma_shift_x = 1, .chroma_shift_y = 1};
/// With this number of frames the examined positions are near 6, 14, 26 ..., where packets can be
/// found.
constexpr int frames = 96, begin = 18, end = 23;

class ScenesOfFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    std::vector<Frame> all;
    for (int i = 0; i < frames; ++i) {
      Frame& frame = clean_.emplace_back(clean_picture(yuv, 0.02 * i));
      const bool other = i >= begin && i < end;
      const auto luma = frame.plane<std::uint8_t>(0);
      for (int y = 0; other && y < yuv.height; ++y)
        for (int x = 0; x < yuv.width; ++x)
          luma(x, y) = static_cast<std::uint8_t>(255 - luma(x, y));
      all.push_back(noisy_picture(frame, other ? 16 : 4, 400 + static_cast<unsigned>(i)));
    }
    write_y4m(folder_ / "in.y4m", all);
    convert(folder_ / "in.y4m", in_, {.lossless = true});
  }
  Outcome denoise(const std::string& to, const Words& more) const {
    Words words{in_, to, "--profile", "fast", "--device", "cpu"};
    words.insert(words.end(), more.begin(), more.end());
    return run_lull(words);
  }
  double psnr(const Frame& frame, int number) const {
    return lull::test_support::psnr(lull::test_support::plane_of(clean_[number], 0).view(),
                                    lull::test_support::plane_of(frame, 0).view());
  }

  Folder folder_;
  const std::string in_ = folder_ / "in.mkv";
  std::vector<Frame> clean_;
};

/// Expects three scenes with their levels and first frames.
void expect_three(const std::string& json) {
  const NoiseRecord record = parse_noise(json, "told");
  ASSERT_EQ(record.scenes.size(), 3u);
  const int first[] = {0, begin, end}, level[] = {4, 16, 4};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(std::lround(25 * record.scenes[i].from_s), first[i]);
    EXPECT_NEAR(record.scenes[i].estimate.level[0], level[i], 0.15 * level[i]);
  }
}

TEST_F(ScenesOfFiles, AreReportedWhenTheCompleteFileIsRead) {
  EXPECT_EQ(parse_noise(run_lull({"noise", in_, "--json"}).out, "told").scenes.size(), 1u);
  expect_three(run_lull({"noise", in_, "--all", "--json"}).out);
  EXPECT_THAT(run_lull({"noise", in_, "--all"}).out,
              AllOf(HasSubstr("noise: from 0.72 s: white, Y 1"), HasSubstr("from 0.92 s: white")));
  const std::string told = folder_ / "told.json";
  const std::string command = std::string(LULL_PROGRAM) + " noise - -o " + told + " --plot " +
                              (folder_ / "plot.svg") + " < " + (folder_ / "in.y4m") + " > " +
                              (folder_ / "out");
  ASSERT_EQ(std::system(command.c_str()), 0);
  expect_three(bytes_of(told));
  EXPECT_THAT(bytes_of(folder_ / "plot.svg"), HasSubstr("from 0.72 s"));
  EXPECT_EQ(denoise(folder_ / "a.mkv", {"--noise", told}).code, 0);
  const Outcome refused = run_lull({"noise", in_, "--all", "--frames", "0-9,20-29"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--all"));
  EXPECT_EQ(refused.error_lines(), 1);
}

TEST_F(ScenesOfFiles, AreFilteredForTheirOwnNoise) {
  const std::string metrics = folder_ / "metrics.prom", page = folder_ / "page.html";
  const Outcome outcome =
      denoise(folder_ / "out.mkv", {"--lossless", "--frames", "0-" + std::to_string(end - 1),
                                    "--progress", "json", "--metrics-file", metrics, "--report",
                                    page, "--grain-table", folder_ / "grain.tbl"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("noise: from 0.72 s: white, Y 1"));
  const std::vector<Frame> out = frames_of(folder_ / "out.mkv"), in = frames_of(in_);
  for (const int number : {0, begin - 1}) EXPECT_GT(psnr(out[number], number), 36);
  for (const int number : {begin, end - 1})
    EXPECT_GT(psnr(out[number], number), psnr(in[number], number) + 5);
  // All figures about the last frame are those of its scene.
  EXPECT_THAT(bytes_of(metrics),
              AllOf(HasSubstr("lull_scene{"), HasSubstr("} 1\n"), HasSubstr("plane=\"0\"} 1")));
  EXPECT_THAT(bytes_of(page), HasSubstr("0.72 s"));
  EXPECT_THAT(bytes_of(folder_ / "grain.tbl"), HasSubstr("filmgrn1"));
}

TEST_F(ScenesOfFiles, AreEqualInSegmentsAndTasks) {
  const Words options{"--segment-frames", "12", "--temporal", "1", "--frames", "0-35", "--quiet"};
  const std::string whole = folder_ / "whole.mkv";
  ASSERT_EQ(denoise(whole, options).code, 0);
  const std::string job = folder_ / "job", out = folder_ / "out.mkv";
  Words plan{"plan", in_, "-o", out, "--job", job, "--profile", "fast", "--device", "cpu"};
  plan.insert(plan.end(), options.begin(), options.end());
  ASSERT_EQ(run_lull(plan).code, 0);
  for (const std::string which : {"1-2", "0"})
    ASSERT_EQ(run_lull({"denoise", "--job", job, "--segment", which, "--quiet"}).code, 0);
  ASSERT_EQ(run_lull({"join", job}).code, 0);
  EXPECT_EQ(bytes_of(out), bytes_of(whole));
}

TEST_F(ScenesOfFiles, AreEqualInAResumedJob) {
  const std::string out = folder_ / "out.mkv";
  const Words options{"--segment-frames", "5", "--temporal", "1", "--frames", "0-47"};
  ASSERT_EQ(denoise(folder_ / "whole.mkv", options).code, 0);
  Words arguments{in_, out, "--profile", "fast", "--device", "cpu"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  (void)killed_in_job(arguments, out);
  arguments.push_back("--resume");
  const Outcome outcome = run_lull(arguments);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(bytes_of(out), bytes_of(folder_ / "whole.mkv"));
}

// A selection that begins with a scene of its own.
TEST_F(ScenesOfFiles, AreUsedForASelection) {
  const Outcome outcome = denoise(folder_ / "out.mkv", {"--lossless", "--frames", "18-95"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::vector<Frame> out = frames_of(folder_ / "out.mkv"), in = frames_of(in_);
  ASSERT_EQ(out.size(), 78u);
  for (const int number : {begin, end - 1})
    EXPECT_GT(psnr(out[number - begin], number), psnr(in[number], number) + 5);
  EXPECT_GT(psnr(out[40], 58), 36);
}

}  // namespace
}  // namespace lull::tools
