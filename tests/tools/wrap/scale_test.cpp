// Tests --scale in the command: formats, sizes, the data that accompany a video, and rejected
// requests.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "support/pictures.h"
#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using ::testing::HasSubstr;

Outcome scaled(const std::string& from, const std::string& to,
               const std::vector<std::string>& more = {"--scale", "2"}) {
  std::vector<std::string> all{"denoise", "-i", from,        "-o",   to,         "-y",
                               "--sigma", "10", "--profile", "fast", "--device", "cpu"};
  all.insert(all.end(), more.begin(), more.end());
  return run_lull(all);
}

constexpr FrameFormat yuv{
    .width = 66, .height = 50, .layout = Layout::yuv, .chroma_shift_x = 1, .chroma_shift_y = 1};

/// Returns the video's properties from ffprobe; empty if there is no ffprobe.
std::string probed(const std::string& path, const std::string& entries) {
  const std::string command =
      "ffprobe -v error -select_streams v:0 -show_entries stream=" + entries + " -of csv=p=0 '" +
      path + "' 2>/dev/null";
  std::string text;
  if (FILE* const pipe = popen(command.c_str(), "r")) {
    char line[256];
    while (std::fgets(line, sizeof line, pipe)) text += line;
    pclose(pipe);
  }
  return text.substr(0, text.find('\n'));
}

class Scale : public ::testing::Test {
 protected:
  /// Returns a clip in 4:2:0 whose samples are 1.5 times as wide as high.
  std::string clip(int frames = 3) {
    std::vector<Frame> all;
    for (int i = 0; i < frames; ++i)
      all.push_back(noisy_picture(clean_picture(yuv, 0.3 * i), 10, static_cast<unsigned>(i + 1)));
    const std::string path = folder_ / "in.y4m";
    write_y4m(path, all);
    return path;
  }
  Folder folder_;
};

TEST_F(Scale, EveryFormatIsEnlarged) {
  for (const char* extension : {"png", "ppm", "tiff"}) {
    const FrameFormat format{
        .width = 31, .height = 27, .layout = Layout::rgb, .sample = SampleType::u16, .bits = 16};
    const Frame clean = clean_picture(format);
    const std::string made = folder_ / "made.ppm", in = folder_ / ("in." + std::string(extension));
    const std::string out = folder_ / ("out." + std::string(extension));
    write_pnm(made, noisy_picture(clean, 10));
    if (in != made) convert(made, in, {.overwrite = true});
    const Outcome outcome = scaled(in, out, {"--scale", "1.5"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const Frame result = frames_of(out).at(0);
    EXPECT_EQ(result.format.width, 47);  // 46.5, rounded
    EXPECT_EQ(result.format.height, 41);
    EXPECT_EQ(result.format.layout, Layout::rgb);
    EXPECT_EQ(result.format.bits, 16);
  }
}

TEST_F(Scale, VideoKeepsItsFramesInTheNewSize) {
  const std::string in = clip();
  for (const char* name : {"out.mkv", "out.mp4", "out.y4m", "out.%02d.png"}) {
    const Outcome outcome = scaled(in, folder_ / name);
    ASSERT_EQ(outcome.code, 0) << name << ": " << outcome.err;
  }
  for (const char* name : {"out.mkv", "out.mp4", "out.y4m"}) {
    const std::vector<Frame> frames = frames_of(folder_ / name);
    ASSERT_EQ(frames.size(), 3u) << name;
    EXPECT_EQ(frames[0].format.width, 132);
    EXPECT_EQ(frames[0].format.height, 100);
    EXPECT_EQ(frames[0].format.chroma_shift_x, 1);
  }
  EXPECT_EQ(frames_of(folder_ / "out.02.png").at(0).format.width, 132);
  const Outcome hash = scaled(in, "hash");
  EXPECT_THAT(hash.out, HasSubstr("132x100"));
  EXPECT_EQ(hash.out, scaled(in, "hash", {"--scale", "2", "--threads", "1"}).out);
}

TEST_F(Scale, SegmentsAndJobsGiveTheSameFrames) {
  const std::string in = clip(6);
  const std::vector<std::string> scale{"--scale", "1.5", "--lossless"};
  ASSERT_EQ(scaled(in, folder_ / "whole.mkv", scale).code, 0);
  std::vector<std::string> parts = scale;
  parts.insert(parts.end(), {"--segment-frames", "2"});
  const Outcome segments = scaled(in, folder_ / "parts.mkv", parts);
  ASSERT_EQ(segments.code, 0) << segments.err;
  const Outcome same =
      run_lull({"compare", folder_ / "whole.mkv", folder_ / "parts.mkv", "--json"});
  EXPECT_EQ(same.code, 0) << same.err;
  const std::vector<Frame> a = frames_of(folder_ / "whole.mkv"),
                           b = frames_of(folder_ / "parts.mkv");
  ASSERT_EQ(a.size(), b.size());
  EXPECT_EQ(a[0].format.width, 100);  // 99, rounded to complete chroma samples
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_GT(lull::test_support::psnr(lull::test_support::plane_of(a[i], 0).view(),
                                       lull::test_support::plane_of(b[i], 0).view()),
              300);
}

TEST_F(Scale, AspectAndColourTagsAreKept) {
  const std::string in = clip(), made = folder_ / "made.mkv", out = folder_ / "out.mkv";
  const std::string command = "ffmpeg -v error -y -i '" + in +
                              "' -vf setsar=3/2 -color_primaries bt709 -color_trc bt709 "
                              "-colorspace bt709 -c:v ffv1 '" +
                              made + "' 2>/dev/null";
  if (std::system(command.c_str()) != 0) GTEST_SKIP() << "no ffmpeg here";
  ASSERT_EQ(scaled(made, out, {"--scale", "2", "--lossless"}).code, 0);
  const char* const entries =
      "width,height,sample_aspect_ratio,pix_fmt,color_space,color_transfer,color_primaries";
  EXPECT_EQ(probed(made, entries), "66,50,3:2,yuv420p,bt709,bt709,bt709");
  EXPECT_EQ(probed(out, entries), "132,100,3:2,yuv420p,bt709,bt709,bt709");
}

TEST_F(Scale, InvalidRequestsAreRejectedInOneLine) {
  const std::string in = clip(), out = folder_ / "out.mkv";
  struct Case {
    std::vector<std::string> more;
    int code;
    const char* text;
  };
  for (const Case& bad :
       {Case{{"--scale", "0.5"}, 2, "--scale 0.5 (must be from 1 to 4)"},
        Case{{"--scale", "4.1"}, 2, "must be from 1 to 4"},
        Case{{"--scale", "nan"}, 2, "--scale nan"},
        Case{{"--scale", "2", "--interlaced", "fields"}, 2, "--scale with --interlaced fields"},
        Case{{"--scale", "2", "--grain-table", folder_ / "t.tbl"}, 2, "--scale with --grain-table"},
        Case{{"--scale", "2", "--mask", "m.nii"}, 2, "--scale with --mask"},
        Case{{"--scale", "2", "--method", "nlm", "--guide", in}, 2, "--scale with --guide"},
        Case{{"--scale", "2", "--stack"}, 2, "--scale with --stack"},
        Case{{"--scale", "4", "--max-pixels", "20000"}, 65, "more than 20000 pixels"}}) {
    const Outcome outcome = scaled(in, out, bad.more);
    EXPECT_EQ(outcome.code, bad.code) << bad.text;
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(bad.text));
  }
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"in.y4m"});
}

}  // namespace
}  // namespace lull::tools
