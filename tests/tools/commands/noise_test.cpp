// Tests estimated noise: it is reported, stored in a file, and tracked through a clip.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "support/pictures.h"
#include "tools/noise/noise_record.h"
#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr FrameFormat yuv{
    .width = 160, .height = 128, .layout = Layout::yuv, .chroma_shift_x = 1, .chroma_shift_y = 1};

Frame noisy_frame(int number, double sigma) {
  return noisy_picture(clean_picture(yuv, 0.02 * number), sigma, 100 + number);
}

class EstimatedNoise : public ::testing::Test {
 protected:
  /// Returns a clip in FFV1 with `counts` frames for each of the levels.
  std::string clip(const std::string& name, const std::vector<std::pair<int, double>>& scenes) {
    std::vector<Frame> frames;
    for (const auto& [count, sigma] : scenes)
      for (int i = 0; i < count; ++i)
        frames.push_back(noisy_frame(static_cast<int>(frames.size()), sigma));
    write_y4m(folder_ / "clip.y4m", frames);
    convert(folder_ / "clip.y4m", folder_ / name, {.lossless = true, .overwrite = true});
    return folder_ / name;
  }
  Outcome denoise(const std::string& from, const std::string& to,
                  std::vector<std::string> more = {}) {
    more.insert(more.begin(), {from, to, "--profile", "fast", "--device", "cpu", "-y"});
    return run_lull(more);
  }
  Folder folder_;
};

TEST_F(EstimatedNoise, IsReportedAndRemoved) {
  const std::string in = clip("in.mkv", {{12, 10}});
  const Outcome told = run_lull({"noise", in});
  ASSERT_EQ(told.code, 0) << told.err;
  EXPECT_THAT(told.out, HasSubstr("noise: white, Y "));
  const Outcome outcome = denoise(in, folder_ / "out.mkv", {"--lossless"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("noise: white, Y "), HasSubstr("; strength 1")));
  const Plane<float> truth = lull::test_support::plane_of(clean_picture(yuv, 0.02 * 5), 0);
  const auto psnr_of = [&](const std::string& path) {
    return lull::test_support::psnr(truth.view(),
                                    lull::test_support::plane_of(frames_of(path).at(5), 0).view());
  };
  EXPECT_GT(psnr_of(folder_ / "out.mkv"), psnr_of(in) + 4);
}

TEST_F(EstimatedNoise, CanBeSavedForAnotherFile) {
  const std::string in = clip("in.mkv", {{12, 10}}), other = clip("other.mkv", {{6, 20}});
  const std::string camera = folder_ / "camera.json";
  ASSERT_EQ(run_lull({"noise", in, "-o", camera, "--plot", folder_ / "plot.svg"}).code, 0);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "plot.svg"));
  EXPECT_EQ(run_lull({"noise", in, "-o", camera}).code, 73);
  const std::string json = run_lull({"noise", in, "--json"}).out;
  EXPECT_EQ(json, bytes_of(camera));
  ASSERT_EQ(denoise(in, folder_ / "a.mkv").code, 0);
  ASSERT_EQ(denoise(in, folder_ / "b.mkv", {"--noise", camera}).code, 0);
  EXPECT_EQ(bytes_of(folder_ / "a.mkv"), bytes_of(folder_ / "b.mkv"));
  ASSERT_EQ(denoise(other, folder_ / "c.mkv", {"--noise", camera}).code, 0);
  ASSERT_EQ(denoise(other, folder_ / "d.mkv").code, 0);
  EXPECT_NE(bytes_of(folder_ / "c.mkv"), bytes_of(folder_ / "d.mkv"));
  // A record of YUV applied to a grey picture.
  write_pnm(folder_ / "grey.pgm", clean_picture({.width = 64, .height = 64}));
  const Outcome refused = denoise(folder_ / "grey.pgm", folder_ / "e.pgm", {"--noise", camera});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("it is from YUV frames, the input has grey frames"));
  EXPECT_EQ(refused.error_lines(), 1);
}

TEST_F(EstimatedNoise, ChangesFromSceneToScene) {
  const std::string in = clip("in.mkv", {{40, 6}, {40, 18}});
  const NoiseRecord record = parse_noise(run_lull({"noise", in, "--json"}).out, "told");
  ASSERT_EQ(record.scenes.size(), 2u);
  EXPECT_NEAR(record.scenes[0].estimate.level[0], 6, 0.9);
  EXPECT_NEAR(record.scenes[1].estimate.level[0], 18, 2.7);
  EXPECT_NEAR(record.scenes[1].from_s, 1.6, 0.05);
  const Outcome outcome = denoise(in, folder_ / "out.mkv");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("noise: from 0 s: "), HasSubstr("noise: from 1.6")));
  EXPECT_EQ(frames_of(folder_ / "out.mkv").size(), 80u);
}

// Noise in cells of 6x6 samples, which patches cannot distinguish from picture content.
TEST_F(EstimatedNoise, CoarserThanPatchesIsAlsoFilteredAtHalfSize) {
  constexpr FrameFormat grey{.width = 192, .height = 160};
  const Frame clean = clean_picture(grey);
  std::vector<Frame> frames;
  for (int n = 0; n < 9; ++n) {
    Frame flat = clean_picture({.width = grey.width / 6 + 1, .height = grey.height / 6 + 1});
    const Frame cells = noisy_picture(flat, 9, 700 + n);
    Frame frame = noisy_picture(clean, 0, n);
    for (int y = 0; y < grey.height; ++y)
      for (int x = 0; x < grey.width; ++x) {
        const int noise =
            cells.plane<std::uint8_t>(0)(x / 6, y / 6) - flat.plane<std::uint8_t>(0)(x / 6, y / 6);
        std::uint8_t& sample = frame.plane<std::uint8_t>(0)(x, y);
        sample = static_cast<std::uint8_t>(std::clamp(sample + noise, 0, 255));
      }
    frames.push_back(std::move(frame));
  }
  write_y4m(folder_ / "in.y4m", frames);
  const std::string camera = folder_ / "camera.json";
  ASSERT_EQ(run_lull({"noise", folder_ / "in.y4m", "-o", camera}).code, 0);
  NoiseRecord record = read_noise(camera);
  ASSERT_TRUE(record.scenes[0].half);
  ASSERT_EQ(denoise(folder_ / "in.y4m", folder_ / "two.mkv", {"--lossless"}).code, 0);
  record.scenes[0].half.reset();
  write_noise(camera, record, true);
  ASSERT_EQ(
      denoise(folder_ / "in.y4m", folder_ / "one.mkv", {"--lossless", "--noise", camera}).code, 0);
  const Plane<float> truth = lull::test_support::plane_of(clean, 0);
  const auto psnr_of = [&](const std::string& path) {
    return lull::test_support::psnr(truth.view(),
                                    lull::test_support::plane_of(frames_of(path).at(4), 0).view());
  };
  EXPECT_GT(psnr_of(folder_ / "two.mkv"), psnr_of(folder_ / "one.mkv") + 0.3);
}

TEST_F(EstimatedNoise, ComesFromTheFirstFramesOfAPipe) {
  (void)clip("in.mkv", {{30, 10}});
  const std::string command =
      std::string(LULL_PROGRAM) + " - - --profile fast --device cpu --output-format y4m < " +
      (folder_ / "clip.y4m") + " > " + (folder_ / "piped.y4m") + " 2> " + (folder_ / "err");
  ASSERT_EQ(std::system(command.c_str()), 0) << bytes_of(folder_ / "err");
  EXPECT_THAT(bytes_of(folder_ / "err"), HasSubstr("noise: white"));
  EXPECT_EQ(frames_of(folder_ / "piped.y4m").size(), 30u);
}

TEST_F(EstimatedNoise, ChangesFromSceneToSceneInAPipe) {
  std::vector<Frame> clean, frames;
  for (int i = 0; i < 50; ++i) {
    Frame& frame = clean.emplace_back(clean_picture(yuv, 0.02 * i));
    const bool other = i >= 16, still = i >= 34;
    const auto luma = frame.plane<std::uint8_t>(0);
    for (int y = 0; other && !still && y < yuv.height; ++y)
      for (int x = 0; x < yuv.width; ++x) luma(x, y) = static_cast<std::uint8_t>(255 - luma(x, y));
    if (i > 34) frame = clean[34];
    frames.push_back(still ? frame : noisy_picture(frame, other ? 15 : 4, 900 + i));
  }
  write_y4m(folder_ / "in.y4m", frames);
  const auto pipe = [&](const std::string& to, const std::string& more) {
    const std::string command = std::string(LULL_PROGRAM) + " - - --profile fast --device cpu " +
                                more + " --output-format y4m < " + (folder_ / "in.y4m") + " > " +
                                (folder_ / to) + " 2> " + (folder_ / "err");
    return std::system(command.c_str());
  };
  ASSERT_EQ(pipe("one.y4m", "--threads 1"), 0) << bytes_of(folder_ / "err");
  EXPECT_THAT(bytes_of(folder_ / "err"),
              AllOf(HasSubstr("noise: white, Y "), HasSubstr("noise: from 0.64 s: white, Y 1"),
                    HasSubstr("noise: from 1.36 s: none to speak of; strength 1")));
  ASSERT_EQ(pipe("two.y4m", "--threads 2 --grain-table " + (folder_ / "grain.tbl")), 0)
      << bytes_of(folder_ / "err");
  EXPECT_EQ(bytes_of(folder_ / "one.y4m"), bytes_of(folder_ / "two.y4m"));
  EXPECT_THAT(bytes_of(folder_ / "grain.tbl"), HasSubstr("E "));
  const std::vector<Frame> out = frames_of(folder_ / "one.y4m");
  ASSERT_EQ(out.size(), frames.size());
  const auto psnr_of = [&](const Frame& frame, int number) {
    return lull::test_support::psnr(lull::test_support::plane_of(clean[number], 0).view(),
                                    lull::test_support::plane_of(frame, 0).view());
  };
  EXPECT_GT(psnr_of(out[8], 8), psnr_of(frames[8], 8) + 2);
  for (const int number : {16, 25, 33})  // from the first to the last frame of the scene
    EXPECT_GT(psnr_of(out[number], number), psnr_of(frames[number], number) + 5);
  EXPECT_EQ(psnr_of(out[40], 40), psnr_of(clean[40], 40)) << "what is clean stays as it is";
}

TEST_F(EstimatedNoise, IsKeptWhenAJobIsResumed) {
  const std::string in = clip("in.mkv", {{150, 10}}), out = folder_ / "out.mkv";
  const std::vector<std::string> segments{"--segment-frames", "20"};
  ASSERT_EQ(denoise(in, folder_ / "whole.mkv", segments).code, 0);
  std::vector<std::string> arguments{in,         out,   "--profile",        "fast",
                                     "--device", "cpu", "--segment-frames", "20"};
  EXPECT_THAT(killed_in_job(arguments, out), HasSubstr("the%20noise"));
  arguments.push_back("--resume");
  const Outcome outcome = run_lull(arguments);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(bytes_of(out), bytes_of(folder_ / "whole.mkv"));
}

TEST_F(EstimatedNoise, ZeroNoiseLeavesTheInputUnchanged) {
  const std::string in = clip("in.mkv", {{6, 0}});
  const Outcome outcome = denoise(in, folder_ / "out.mkv", {"--lossless"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Plane<float> before = lull::test_support::plane_of(frames_of(in).at(3), 0);
  const Plane<float> after = lull::test_support::plane_of(frames_of(folder_ / "out.mkv").at(3), 0);
  EXPECT_GT(lull::test_support::psnr(before.view(), after.view()), 50);
}

TEST_F(EstimatedNoise, IsUsedByPreview) {
  const std::string in = clip("in.mkv", {{12, 10}});
  const Outcome outcome =
      run_lull({"preview", in, "-o", folder_ / "a.png", "--device", "cpu", "--strength", "light"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("; strength 0.7"));
}

}  // namespace
}  // namespace lull::tools
