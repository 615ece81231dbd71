// Tests lull denoise --method nlm: accepted and rejected options, and guides.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/pictures.h"
#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using ::testing::HasSubstr;

constexpr FrameFormat grey{.width = 80, .height = 64};
constexpr FrameFormat yuv420{
    .width = 80, .height = 64, .layout = Layout::yuv, .chroma_shift_x = 1, .chroma_shift_y = 1};
constexpr FrameFormat rgb{.width = 80, .height = 64, .layout = Layout::rgb};
constexpr int count = 6;

struct Nlm : ::testing::Test {
  /// Writes a clip of one picture with different noise in each frame.
  void write_clip(const std::string& name, const FrameFormat& format, double sigma,
                  int frames = count) {
    std::vector<Frame> noisy;
    for (int n = 0; n < frames; ++n)
      noisy.push_back(noisy_picture(clean_picture(format), sigma, n + 1));
    write_y4m(folder / name, noisy);
  }
  Outcome denoise(const std::string& from, const std::string& to,
                  const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"denoise",     "-q",        "-y",        "-i",
                                       folder / from, "-o",        folder / to, "--sigma",
                                       "20",          "--threads", "2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    for (const auto& [option, value] :
         {std::pair<std::string, std::string>{"--method", "nlm"}, {"--device", "cpu"}})
      if (std::ranges::find(more, option) == more.end())
        arguments.insert(arguments.end(), {option, value});
    return run_lull(arguments);
  }
  double psnr_of(const std::string& name, int plane = 0) {
    double sum = 0;
    const std::vector<Frame> frames = frames_of(folder / name);
    for (const Frame& frame : frames)
      sum += lull::test_support::psnr(
          lull::test_support::plane_of(clean_picture(frame.format), plane).view(),
          lull::test_support::plane_of(frame, plane).view());
    return sum / static_cast<double>(frames.size());
  }
  void expect_refused(const std::vector<std::string>& more, int code, const std::string& text) {
    const Outcome outcome = denoise("grey.y4m", "refused.y4m", more);
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(text));
    for (const std::string& name : folder.names()) EXPECT_NE(name, "refused.y4m");
  }

  Folder folder;
};

TEST_F(Nlm, VideosImproveAndMoreSoOverTime) {
  for (const FrameFormat& format : {grey, yuv420}) {
    write_clip("in.y4m", format, 20);
    ASSERT_EQ(denoise("in.y4m", "alone.y4m", {"--temporal", "0"}).code, 0);
    ASSERT_EQ(denoise("in.y4m", "time.y4m").code, 0);  // the radius is 2 with balanced
    for (int plane = 0; plane < format.planes(); ++plane) {
      EXPECT_GT(psnr_of("alone.y4m", plane), psnr_of("in.y4m", plane) + 3) << plane;
      EXPECT_GT(psnr_of("time.y4m", plane), psnr_of("alone.y4m", plane) + 0.5) << plane;
    }
  }
}

TEST_F(Nlm, ColourPicturesImproveWithEveryProfile) {
  write_pnm(folder / "in.ppm", noisy_picture(clean_picture(rgb), 20));
  for (const char* profile : {"fast", "balanced", "high", "paper"}) {
    ASSERT_EQ(denoise("in.ppm", "out.ppm", {"--profile", profile}).code, 0);
    for (int plane = 0; plane < 3; ++plane)
      EXPECT_GT(psnr_of("out.ppm", plane), psnr_of("in.ppm", plane) + 3) << profile;
  }
}

TEST_F(Nlm, OptionsChangeTheResult) {
  write_pnm(folder / "in.pgm", noisy_picture(clean_picture(grey), 20));
  ASSERT_EQ(denoise("in.pgm", "plain.pgm").code, 0);
  const std::string plain = bytes_of(folder / "plain.pgm");
  for (const std::vector<std::string>& options : {std::vector<std::string>{"--nlm-h", "0.5"},
                                                  {"--weights", "exp"},
                                                  {"--search-radius", "2"},
                                                  {"--patch-radius", "1"},
                                                  {"--strength", "strong"}}) {
    ASSERT_EQ(denoise("in.pgm", "out.pgm", options).code, 0) << options[0];
    EXPECT_NE(bytes_of(folder / "out.pgm"), plain) << options[0];
  }
  ASSERT_EQ(denoise("in.pgm", "reference.pgm", {"--device", "reference"}).code, 0);
  const auto a = frames_of(folder / "plain.pgm"), b = frames_of(folder / "reference.pgm");
  EXPECT_GT(lull::test_support::psnr(lull::test_support::plane_of(a[0], 0).view(),
                                     lull::test_support::plane_of(b[0], 0).view()),
            60);
}

TEST_F(Nlm, ClusterMatcherAveragesGroups) {
  for (const FrameFormat& format : {grey, yuv420}) {
    write_clip("in.y4m", format, 20);
    const std::vector<std::string> groups{"--matcher", "cluster"};
    ASSERT_EQ(denoise("in.y4m", "time.y4m", groups).code, 0);  // the radius is 2 with balanced
    ASSERT_EQ(denoise("in.y4m", "alone.y4m", {"--matcher", "cluster", "--temporal", "0"}).code, 0);
    for (int plane = 0; plane < format.planes(); ++plane) {
      EXPECT_GT(psnr_of("alone.y4m", plane), psnr_of("in.y4m", plane) + 3) << plane;
      EXPECT_GT(psnr_of("time.y4m", plane), psnr_of("alone.y4m", plane) + 0.5) << plane;
    }
  }
  write_pnm(folder / "in.ppm", noisy_picture(clean_picture(rgb), 20));
  ASSERT_EQ(denoise("in.ppm", "plain.ppm", {"--cluster", "paper", "-p", "paper"}).code, 0);
  EXPECT_GT(psnr_of("plain.ppm"), psnr_of("in.ppm") + 3);
  ASSERT_EQ(denoise("in.ppm", "h.ppm", {"--cluster", "paper", "-p", "paper", "--nlm-h", "1"}).code,
            0);
  EXPECT_NE(bytes_of(folder / "h.ppm"), bytes_of(folder / "plain.ppm"));
}

TEST_F(Nlm, ClusterMatcherRejectsOtherParameters) {
  write_clip("grey.y4m", grey, 20);
  const auto refused = [&](std::vector<std::string> more, const std::string& text) {
    more.insert(more.end(), {"--matcher", "cluster"});
    expect_refused(more, 2, text);
  };
  refused({"--search-radius", "3"}, "--search-radius with --method nlm --matcher cluster");
  refused({"--weights", "exp"}, "--weights with --method nlm --matcher cluster");
  refused({"--guide", folder / "grey.y4m"}, "--guide with --method nlm --matcher cluster");
  refused({"--guide", "auto"}, "--guide auto with --method nlm --matcher cluster");
  refused({"--stack"}, "--stack with --method nlm --matcher cluster");
  refused({"--tau", "2000"}, "--tau with --method nlm");
  refused({"--nlm-h", "0"}, "h of the means over groups = 0");
  expect_refused({"--matcher", "window:cluster"}, 2, "--matcher window:cluster with --method nlm");
}

TEST_F(Nlm, OptionsOfOtherMethodsAreRejected) {
  write_clip("grey.y4m", grey, 20);
  expect_refused({"--tau", "2000"}, 2, "--tau with --method nlm");
  expect_refused({"--cube", "3"}, 2, "--cube with --method nlm");
  expect_refused({"--nlm-h", "0"}, 2, "h = 0");
  expect_refused({"--search-radius", "21"}, 2, "--search-radius 21");
  expect_refused({"--weights", "gauss"}, 2, "--weights gauss");
  expect_refused({"--method", "bm3d", "--nlm-h", "1"}, 2, "--nlm-h without --method nlm");
  expect_refused({"--guide", "-"}, 2, "--guide -");
}

TEST_F(Nlm, GuideImprovesQuality) {
  write_clip("grey.y4m", grey, 20);
  write_clip("guide.y4m", grey, 0);
  ASSERT_EQ(denoise("grey.y4m", "alone.y4m", {"--temporal", "0"}).code, 0);
  ASSERT_EQ(
      denoise("grey.y4m", "guided.y4m", {"--temporal", "0", "--guide", folder / "guide.y4m"}).code,
      0);
  EXPECT_GT(psnr_of("guided.y4m"), psnr_of("alone.y4m") + 0.3);
  // A selection uses the corresponding frames of the guide.
  ASSERT_EQ(denoise("grey.y4m", "whole.y4m", {"--guide", folder / "guide.y4m"}).code, 0);
  ASSERT_EQ(
      denoise("grey.y4m", "part.y4m", {"--guide", folder / "guide.y4m", "--frames", "2-3"}).code,
      0);
  const auto whole = frames_of(folder / "whole.y4m"), part = frames_of(folder / "part.y4m");
  ASSERT_EQ(part.size(), 2u);
  for (int n = 0; n < 2; ++n) EXPECT_TRUE(lull::test_support::same_samples(whole[n + 2], part[n]));
}

TEST_F(Nlm, GuideOfAnotherSizeOrLengthIsBadData) {
  write_clip("grey.y4m", grey, 20);
  FrameFormat narrow = grey;
  narrow.width = 64;
  write_clip("narrow.y4m", narrow, 0);
  write_clip("colour.y4m", yuv420, 0);
  write_clip("short.y4m", grey, 0, count - 1);
  write_clip("long.y4m", grey, 0, count + 1);
  expect_refused({"--guide", folder / "narrow.y4m"}, 65, "the guide has frames of 64x64");
  expect_refused({"--guide", folder / "colour.y4m"}, 65, "the guide has frames of");
  expect_refused({"--guide", folder / "short.y4m"}, 65, "the guide ends after 5 frames");
  expect_refused({"--guide", folder / "long.y4m"}, 65, "the guide has more than 6 frames");
  expect_refused({"--guide", folder / "none.y4m"}, 66, "none.y4m");
}

TEST_F(Nlm, JobInSegmentsGivesTheSameFrames) {
  write_clip("grey.y4m", grey, 20, 20);
  const std::vector<std::string> code{"--vcodec", "ffv1", "--temporal", "1"};
  ASSERT_EQ(denoise("grey.y4m", "whole.mkv", code).code, 0);
  std::vector<std::string> segments = code;
  segments.insert(segments.end(), {"--segment-frames", "6"});
  const Outcome outcome = denoise("grey.y4m", "job.mkv", segments);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto whole = frames_of(folder / "whole.mkv"), job = frames_of(folder / "job.mkv");
  ASSERT_EQ(whole.size(), job.size());
  for (std::size_t n = 0; n < whole.size(); ++n)
    EXPECT_TRUE(lull::test_support::same_samples(whole[n], job[n])) << n;
}

TEST_F(Nlm, StacksAreVolumesUnlessFilteredSliceBySlice) {
  for (int z = 0; z < 10; ++z)
    write_pnm(folder / ("slice_" + std::to_string(z) + ".pgm"),
              noisy_picture(clean_picture(grey), 20, z + 1));
  ASSERT_EQ(denoise("slice_*.pgm", "volume_%04d.pgm", {"--stack"}).code, 0);
  ASSERT_EQ(denoise("slice_*.pgm", "slices_%04d.pgm", {"--stack", "--temporal", "0"}).code, 0);
  EXPECT_GT(psnr_of("volume_0005.pgm"), psnr_of("slice_5.pgm") + 6);
  EXPECT_NE(bytes_of(folder / "volume_0005.pgm"), bytes_of(folder / "slices_0005.pgm"));
}

}  // namespace
}  // namespace lull::tools
