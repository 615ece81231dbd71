// Tests that each command rejects outputs that are other files of the same run, before it changes
// any of them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using Words = std::vector<std::string>;

constexpr FrameFormat format{.width = 32, .height = 32};

class OutputConflicts : public testing::Test {
 protected:
  void SetUp() override {
    std::vector<Frame> frames;
    for (int i = 0; i < 12; ++i)
      frames.push_back(noisy_picture(clean_picture(format, 0.1 * i), 10, i + 1));
    write_y4m(folder_ / "in.y4m", frames);
    write_y4m(folder_ / "guide.y4m", frames);
    ASSERT_EQ(run_lull({"noise", folder_ / "in.y4m", "-o", folder_ / "noise.json", "-q"}).code, 0);
    for (int i = 0; i < 3; ++i)
      write_pnm(folder_ / ("p" + std::to_string(i) + ".pgm"), frames[static_cast<std::size_t>(i)]);
  }
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / "."))
      if (entry.is_regular_file()) all[entry.path().string()] = bytes_of(entry.path().string());
    return all;
  }
  void expect_refusal(const Words& words) const {
    SCOPED_TRACE(testing::PrintToString(words));
    const auto before = files();
    const Outcome outcome = run_lull(words, {.folder = folder_ / "."});
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("is another file of this run"));
    EXPECT_EQ(files(), before);
  }
  static Words with(Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  Folder folder_;
};

TEST_F(OutputConflicts, DenoiseRejectsOutputsThatAreOtherFiles) {
  const Words all = {"denoise",   "in.y4m",   "out.mkv", "--noise",  "noise.json", "--guide",
                     "guide.y4m", "--method", "nlm",     "--device", "cpu",        "-y"};
  for (const std::string option : {"--metrics-file", "--log-file", "--report", "--grain-table"})
    for (const std::string file : {"in.y4m", "noise.json", "guide.y4m", "out.mkv"})
      expect_refusal(with(all, {option, file}));
  for (const std::string file : {"in.y4m", "noise.json", "guide.y4m"}) {
    Words words = all;
    words[2] = file;
    expect_refusal(words);
  }
  const Words pictures = {"denoise", "p%d.pgm", "q%d.pgm", "--sigma", "9", "--device", "cpu", "-y"};
  expect_refusal(with(pictures, {"--metrics-file", "p1.pgm"}));
  expect_refusal(with(pictures, {"--log-file", "q2.pgm"}));
  expect_refusal(with({"denoise", "in.y4m", "p%d.pgm", "--sigma", "9", "-y"},
                      {"--guide", "p2.pgm", "--method", "nlm"}));
}

TEST_F(OutputConflicts, DenoiseRejectsTheMaskAsOutput) {
  write_bytes(folder_ / "v.nii", "volume");
  write_bytes(folder_ / "m.nii", "mask");
  expect_refusal({"denoise", "v.nii", "m.nii", "--mask", "m.nii", "-y"});
  expect_refusal({"denoise", "v.nii", "o.nii", "--mask", "m.nii", "-y", "--noise-map", "m.nii"});
  expect_refusal({"denoise", "v.nii", "o.nii", "--mask", "m.nii", "-y", "--noise-map", "v.nii"});
}

TEST_F(OutputConflicts, SharedJobsRejectOutputsThatAreOtherFiles) {
  const Words fixed = {"--sigma",  "9",   "--profile",        "fast",
                       "--device", "cpu", "--segment-frames", "4"};
  ASSERT_EQ(run_lull(with({"plan", "in.y4m", "-o", "out.mkv", "--job", "J", "-q"}, fixed),
                     {.folder = folder_ / "."})
                .code,
            0);
  ASSERT_EQ(run_lull({"denoise", "--job", folder_ / "J", "--segment", "0", "-q"}).code, 0);
  for (const std::string option : {"--metrics-file", "--log-file", "--report"})
    for (const std::string file :
         {"J/plan", "J/000000.lullseg", "J/000001.lullseg", "in.y4m", "out.mkv"})
      expect_refusal({"denoise", "--job", "J", "-y", option, file});
  for (const std::string file : {"J/plan", "J/000000.lullseg", "J/result", "in.y4m"}) {
    expect_refusal({"join", "J", "-y", "-o", file});
    expect_refusal({"report", "J", "-y", "-o", file});
  }
  expect_refusal(with(
      {"plan", "in.y4m", "-o", "other.mkv", "--job", "J", "-y", "--log-file", "J/plan"}, fixed));
}

TEST_F(OutputConflicts, OtherCommandsRejectOutputsThatAreOtherFiles) {
  expect_refusal({"noise", "in.y4m", "-y", "-o", "in.y4m"});
  expect_refusal({"noise", "in.y4m", "-y", "--plot", "in.y4m"});
  expect_refusal({"noise", "p%d.pgm", "-y", "-o", "p1.pgm"});
  expect_refusal({"noise", "in.y4m", "-o", "new", "--plot", "./new"});
  fs::copy_file(folder_ / "p1.pgm", folder_ / "p1.png");
  expect_refusal({"preview", "p1.png", "-o", "p1.png", "-y"});
  expect_refusal({"preview", "in.y4m", "-o", "a.png", "--log-file", "in.y4m"});
  for (const std::string option : {"--csv", "--html"})
    for (const std::string file : {"in.y4m", "guide.y4m"})
      expect_refusal({"compare", "in.y4m", "guide.y4m", "-y", option, file});
  expect_refusal({"compare", "in.y4m", "guide.y4m", "-y", "--csv", "new", "--html", "new"});
}

}  // namespace
}  // namespace lull::tools
