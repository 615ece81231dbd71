// Tests --repair: defects of sensors that lull finds, or that a file gives.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "support/pictures.h"
#include "tools/repair/repair_choice.h"
#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using lull::test_support::same_samples;
using repair::DefectiveSample;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr FrameFormat format{
    .width = 96, .height = 80, .layout = Layout::yuv, .chroma_shift_x = 1, .chroma_shift_y = 1};
constexpr std::pair<int, int> hot[] = {{10, 12}, {40, 33}, {71, 64}};

/// Returns a moving clip; with `defects`, its luma has three hot pixels.
std::vector<Frame> clip(bool defects) {
  std::vector<Frame> frames;
  for (int i = 0; i < 8; ++i) {
    Frame frame = noisy_picture(clean_picture(format, 0.7 * i), 3, static_cast<unsigned>(i + 1));
    if (defects)
      for (const auto& [x, y] : hot) frame.plane<std::uint8_t>(0)(x, y) = 255;
    frames.push_back(std::move(frame));
  }
  return frames;
}

struct Repair : ::testing::Test {
  Repair() {
    write_y4m(folder / "clean.y4m", clip(false));
    write_y4m(folder / "hot.y4m", clip(true));
    write_bytes(folder / "list.txt", "# x y\n10 12\n40, 33 0 3\n\n71 64 # the third\n");
  }

  Outcome run(const std::string& in, const std::string& out, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{folder / in, folder / out, "--device",   "cpu",
                                       "--profile", "fast",       "--lossless", "-y"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_lull(arguments);
  }
  int luma(const std::string& file, std::size_t frame, int x, int y) {
    return frames_of(folder / file)[frame].plane<std::uint8_t>(0)(x, y);
  }

  Folder folder;
};

TEST_F(Repair, DoesNotChangeResultsOfCleanClip) {
  ASSERT_EQ(run("clean.y4m", "auto.mkv", {}).code, 0);
  ASSERT_EQ(run("clean.y4m", "off.mkv", {"--repair", "off"}).code, 0);
  EXPECT_EQ(bytes_of(folder / "auto.mkv"), bytes_of(folder / "off.mkv"));
}

TEST_F(Repair, ListReplacesItsPixelsInItsFrames) {
  const Outcome outcome = run("hot.y4m", "out.mkv", {"--repair", folder / "list.txt"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("repairs defective pixels (Y 3"));
  EXPECT_LT(luma("out.mkv", 7, 10, 12), 200);
  EXPECT_LT(luma("out.mkv", 0, 40, 33), 200);
  EXPECT_GT(luma("out.mkv", 7, 40, 33), 215);
  EXPECT_LT(luma("out.mkv", 7, 71, 64), 200);
}

TEST_F(Repair, MaskPictureEqualsList) {
  Frame mask = lull::test_support::make_frame({.width = 96, .height = 80});
  for (const auto& [x, y] : hot) mask.plane<std::uint8_t>(0)(x, y) = 1;
  write_pnm(folder / "mask.pgm", mask);
  write_bytes(folder / "all.txt", "10 12\n40 33\n71 64\n");
  ASSERT_EQ(run("hot.y4m", "list.mkv", {"--repair", folder / "all.txt"}).code, 0);
  ASSERT_EQ(run("hot.y4m", "mask.mkv", {"--repair", folder / "mask.pgm"}).code, 0);
  EXPECT_EQ(bytes_of(folder / "list.mkv"), bytes_of(folder / "mask.mkv"));
}

TEST_F(Repair, ListMayBeginWithAByteOrderMark) {
  write_bytes(folder / "mark.csv",
              "\xef\xbb\xbf"
              "10,12\r\n40,33\r\n");
  const RepairPlan plan = read_defects(folder / "mark.csv", {}, format);
  EXPECT_THAT(
      plan.defects[0].planes[0].samples,
      ::testing::ElementsAre(DefectiveSample{.x = 10, .y = 12}, DefectiveSample{.x = 40, .y = 33}));
}

TEST_F(Repair, MaskMayBeLargerThanAnyList) {
  constexpr FrameFormat large{.width = 5800, .height = 5800, .sample = SampleType::u16, .bits = 16};
  Frame mask = lull::test_support::make_frame(large);
  mask.plane<std::uint16_t>(0)(5700, 21) = 65535;
  write_pnm(folder / "mask.pgm", mask);
  const RepairPlan plan = read_defects(folder / "mask.pgm", {}, large);
  EXPECT_THAT(plan.defects[0].planes[0].samples,
              ::testing::ElementsAre(DefectiveSample{.x = 5700, .y = 21}));
}

TEST_F(Repair, RejectsDamagedLists) {
  for (const char* text : {"10\n", "10 12 3\n", "96 0\n", "0 80\n", "a b\n", "-1 2\n", "1 2 9 3\n",
                           "", "# nothing\n", "99999999999999999999 1\n"}) {
    write_bytes(folder / "bad.txt", text);
    const Outcome outcome = run("hot.y4m", "bad.mkv", {"--repair", folder / "bad.txt"});
    EXPECT_EQ(outcome.code, 65) << text;
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
  }
  EXPECT_EQ(run("hot.y4m", "bad.mkv", {"--repair", folder / "missing.txt"}).code, 66);
  EXPECT_THAT(folder.names(), Not(::testing::Contains("bad.mkv")));
}

TEST_F(Repair, FieldsAndThreadsAndSegmentsGiveEqualResults) {
  const std::vector<std::string> list{"--repair", folder / "list.txt"};
  ASSERT_EQ(run("hot.y4m", "one.mkv", {"--repair", list[1], "--threads", "1"}).code, 0);
  ASSERT_EQ(run("hot.y4m", "two.mkv", {"--repair", list[1], "--threads", "2"}).code, 0);
  EXPECT_EQ(bytes_of(folder / "one.mkv"), bytes_of(folder / "two.mkv"));
  ASSERT_EQ(run("hot.y4m", "parts.mkv", {"--repair", list[1], "--segment-frames", "3"}).code, 0);
  const auto complete = frames_of(folder / "one.mkv"), parts = frames_of(folder / "parts.mkv");
  ASSERT_EQ(complete.size(), parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) EXPECT_TRUE(same_samples(complete[i], parts[i]));
  const Outcome fields =
      run("hot.y4m", "fields.mkv", {"--repair", list[1], "--interlaced", "fields"});
  ASSERT_EQ(fields.code, 0) << fields.err;
  // A pixel that is not in the list of frame 7 stays above 215.
  EXPECT_LT(luma("fields.mkv", 7, 10, 12), 200);
  EXPECT_LT(luma("fields.mkv", 7, 71, 64), 200);
}

TEST_F(Repair, TaskOfSharedJobUsesThePlan) {
  ASSERT_EQ(run("hot.y4m", "one.mkv", {"--repair", folder / "list.txt"}).code, 0);
  const Outcome planned = run_lull(
      {"plan", folder / "hot.y4m", folder / "out.mkv", "--job", folder / "job", "--segment-frames",
       "4", "--device", "cpu", "--profile", "fast", "--lossless", "--repair", folder / "list.txt"});
  ASSERT_EQ(planned.code, 0) << planned.err;
  write_bytes(folder / "list.txt", "1 1\n");  // tasks do not read the list
  ASSERT_EQ(run_lull({"denoise", "--job", folder / "job", "--segment", "1"}).code, 0);
  ASSERT_EQ(run_lull({"denoise", "--job", folder / "job"}).code, 0);
  ASSERT_EQ(run_lull({"join", folder / "job"}).code, 0);
  const auto complete = frames_of(folder / "one.mkv"), joined = frames_of(folder / "out.mkv");
  ASSERT_EQ(complete.size(), joined.size());
  for (std::size_t i = 0; i < joined.size(); ++i) EXPECT_TRUE(same_samples(complete[i], joined[i]));
}

TEST_F(Repair, FindsImpulsesAndReportsThem) {
  std::vector<Frame> frames = clip(false);
  std::mt19937 random(4);
  for (const Frame& frame : frames)
    for (int i = 0; i < 96 * 80 / 50; ++i)
      frame.plane<std::uint8_t>(0)(static_cast<int>(random() % 96),
                                   static_cast<int>(random() % 80)) = i % 2 ? 255 : 0;
  write_y4m(folder / "impulses.y4m", frames);
  const Outcome outcome = run("impulses.y4m", "out.mkv", {});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("repairs impulses (Y "));
  const Outcome noise = run_lull({"noise", folder / "impulses.y4m"});
  EXPECT_THAT(noise.out, HasSubstr("defects: impulses (Y "));
  EXPECT_THAT(run_lull({"noise", folder / "impulses.y4m", "--repair", "off"}).out,
              Not(HasSubstr("defects")));
}

}  // namespace
}  // namespace lull::tools
