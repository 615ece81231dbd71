// Tests film grain: tables of the removed noise, and AV1 streams that contain such tables.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "support/grain_text.h"
#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using ::testing::HasSubstr;

constexpr FrameFormat yuv420{
    .width = 96, .height = 64, .layout = Layout::yuv, .chroma_shift_x = 1, .chroma_shift_y = 1};

FrameFormat with(FrameFormat format, int shift_x, int shift_y, int bits) {
  format.chroma_shift_x = shift_x;
  format.chroma_shift_y = shift_y;
  format.bits = bits;
  format.sample = bits == 8 ? SampleType::u8 : SampleType::u16;
  return format;
}

void write_noisy(const std::string& path, const FrameFormat& format, int frames, double sigma) {
  std::vector<Frame> clip;
  for (int i = 0; i < frames; ++i)
    clip.push_back(noisy_picture(clean_picture(format), sigma, 1 + static_cast<unsigned>(i)));
  write_y4m(path, clip);
}

Outcome denoise(const std::string& from, const std::string& to, std::vector<std::string> more) {
  more.insert(more.begin(), {"denoise", "-i", from, "-o", to, "--profile", "fast", "--temporal",
                             "0", "--device", "cpu"});
  return run_lull(more);
}

bool runs(const std::string& command) {
  return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
}

TEST(Grain, EveryFormatGetsATable) {
  Folder folder;
  const FrameFormat gray{.width = 96, .height = 64};
  for (const FrameFormat& format : {gray, yuv420, with(yuv420, 0, 0, 8), with(yuv420, 1, 1, 10)}) {
    SCOPED_TRACE(std::to_string(format.bits) + " bits, shift " +
                 std::to_string(format.chroma_shift_x));
    write_noisy(folder / "in.y4m", format, 2, 10);
    const Outcome outcome = denoise(folder / "in.y4m", "null",
                                    {"--sigma", "10", "-y", "--grain-table", folder / "t.tbl"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const GrainTable table = test_support::grain_table_of(bytes_of(folder / "t.tbl"));
    ASSERT_EQ(table.size(), 1u);
    EXPECT_EQ(table[0].start, 0);
    EXPECT_EQ(table[0].end, 800'000);
    ASSERT_TRUE(table[0].grain);
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(table[0].grain->points[i].empty(), i >= format.planes()) << i;
  }
}

TEST(Grain, TableIsEmptyWithoutNoise) {
  Folder folder;
  write_noisy(folder / "in.y4m", yuv420, 1, 10);
  const Outcome outcome =
      denoise(folder / "in.y4m", "null", {"--sigma", "0", "--grain-table", folder / "t.tbl"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(bytes_of(folder / "t.tbl"), "filmgrn1\nE 0 400000 0 7391 0\n");
}

TEST(Grain, TinyFramesGetATable) {
  Folder folder;
  FrameFormat format = yuv420;
  format.width = format.height = 9;
  write_noisy(folder / "in.y4m", format, 1, 10);
  const Outcome outcome =
      denoise(folder / "in.y4m", "null", {"--sigma", "10", "--grain-table", folder / "t.tbl"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(test_support::grain_table_of(bytes_of(folder / "t.tbl")).size(), 1u);
}

TEST(Grain, ExistingTableIsNotReplacedByDefault) {
  Folder folder;
  write_noisy(folder / "in.y4m", yuv420, 1, 10);
  write_bytes(folder / "t.tbl", "mine");
  const Outcome outcome =
      denoise(folder / "in.y4m", "null", {"--sigma", "10", "--grain-table", folder / "t.tbl"});
  EXPECT_EQ(outcome.code, 73);
  EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
  EXPECT_EQ(bytes_of(folder / "t.tbl"), "mine");
}

TEST(Grain, InvalidRequestsAreRejectedInOneLine) {
  Folder folder;
  write_noisy(folder / "in.y4m", yuv420, 1, 10);
  const auto refused = [&](std::vector<std::string> more, int code, const std::string& text,
                           const std::string& to = "out.mkv") {
    SCOPED_TRACE(text);
    more.insert(more.end(), {"--sigma", "10"});
    const Outcome outcome = denoise(folder / "in.y4m", folder / to, more);
    EXPECT_EQ(outcome.code, code);
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(text));
  };
  refused({"--grain-table", folder / "no/t.tbl"}, 73, "cannot create");
  refused({"--grain-table", folder / "in.y4m", "-y"}, 2, "it is the input itself");
  refused({"--grain-table", folder / "out.mkv"}, 2, "it is the output");
  refused({"--grain", "keep"}, 2, "without --vcodec");
  refused({"--grain", "keep", "--vcodec", "libx264"}, 2, "with libx264");
  refused({"--grain", "all"}, 2, "keep, drop");
  refused({"--grain-table", folder / "t.tbl", "--segment-frames", "10"}, 2, "--segment-frames");
  refused({"--grain", "keep", "--vcodec", "libaom-av1", "--segment-frames", "10"}, 2,
          "--segment-frames");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"in.y4m"});
}

TEST(Grain, PipeIsRejectedBecauseItIsReadTwice) {
  Folder folder;
  const Outcome outcome = denoise("-", folder / "out.mkv",
                                  {"--sigma", "10", "--grain", "keep", "--vcodec", "libaom-av1"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("read twice"));
  EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
}

TEST(Grain, RgbIsRejected) {
  Folder folder;
  write_pnm(folder / "in.ppm",
            noisy_picture(clean_picture({.width = 32, .height = 32, .layout = Layout::rgb}), 10));
  const Outcome outcome =
      denoise(folder / "in.ppm", "null", {"--sigma", "10", "--grain-table", folder / "t.tbl"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("RGB"));
}

double level_between(const std::vector<Frame>& a, const std::vector<Frame>& b) {
  double squares = 0, count = 0;
  for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k)
    for (int y = 0; y < a[k].format.height; ++y)
      for (int x = 0; x < a[k].format.width; ++x) {
        const double off = a[k].plane<std::uint8_t>(0)(x, y) - b[k].plane<std::uint8_t>(0)(x, y);
        squares += off * off;
        ++count;
      }
  return std::sqrt(squares / count);
}

TEST(Grain, PlayerRestoresTheRemovedNoiseLevel) {
  if (!runs("ffmpeg -v quiet -h encoder=libaom-av1 | grep -q aom-params"))
    GTEST_SKIP() << "no encoder libaom-av1";
  if (!runs("ffmpeg -v quiet -h decoder=libdav1d | grep -q filmgrain"))
    GTEST_SKIP() << "this FFmpeg lacks libdav1d";
  Folder folder;
  write_noisy(folder / "in.y4m", yuv420, 6, 10);
  // The option syntax of the encoder would split this file name.
  const std::string table = folder / "a:b='c' d.tbl";
  const Outcome outcome =
      denoise(folder / "in.y4m", folder / "out.mkv",
              {"--sigma", "10", "--grain", "keep", "--grain-table", table, "--vcodec", "libaom-av1",
               "--crf", "20", "--vopts", "cpu-used=8"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  ASSERT_EQ(test_support::grain_table_of(bytes_of(table)).size(), 1u);
  for (const std::string grain : {"0", "1"})
    ASSERT_TRUE(runs("ffmpeg -v error -c:v libdav1d -filmgrain " + grain + " -i '" +
                     (folder / "out.mkv") + "' '" + (folder / (grain + ".y4m")) + "'"));
  const double level = level_between(frames_of(folder / "1.y4m"), frames_of(folder / "0.y4m"));
  EXPECT_NEAR(level, 10, 2);
  EXPECT_EQ(folder.names().size(), 5u);  // no temporary file is left
}

}  // namespace
}  // namespace lull::tools
