// Tests noise of a given level in clipped samples: the command examines the samples, and all ways
// to run a job filter in the same way.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "core/error.h"
#include "support/pictures.h"
#include "tools/noise/clipping_text.h"
#include "tools/noise/noise_record.h"
#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

constexpr FrameFormat yuv{
    .width = 160, .height = 128, .layout = Layout::yuv, .chroma_shift_x = 1, .chroma_shift_y = 1};
constexpr FrameFormat rgb{.width = 160, .height = 128, .layout = Layout::rgb};
constexpr const char* message = "noise: samples are clipped at 0 by noise of 40 (8-bit levels)";

/// Returns a dark picture whose left third is black.
Frame dark_picture(const FrameFormat& format, int number) {
  Frame frame = clean_picture(format, 0.02 * number);
  for (int i = 0; i < (format.layout == Layout::rgb ? 3 : 1); ++i) {
    const auto plane = frame.plane<std::uint8_t>(i);
    for (int y = 0; y < plane.height; ++y)
      for (int x = 0; x < plane.width; ++x)
        plane(x, y) = static_cast<std::uint8_t>(x < plane.width / 3 ? 0 : plane(x, y) / 5);
  }
  return frame;
}

double mean_of(PlaneView<const float> plane) {
  double sum = 0;
  for (int y = 0; y < plane.height; ++y)
    for (int x = 0; x < plane.width; ++x) sum += static_cast<double>(plane(x, y));
  return sum / (static_cast<double>(plane.width) * plane.height);
}

class ClippedNoise : public ::testing::Test {
 protected:
  /// Writes frames with noise of 40; with `dark`, the noise is clipped.
  void make(int frames, bool dark = true) {
    std::vector<Frame> noisy;
    for (int i = 0; i < frames; ++i)
      noisy.push_back(noisy_picture(dark ? dark_picture(yuv, i) : clean_picture(yuv, 0.02 * i),
                                    dark ? 40 : 5, 100 + i));
    write_y4m(in_, noisy);
  }
  Outcome run(Words words, const std::string& to, Words more = {}) const {
    words.insert(words.end(), {"-o", to, "--device", "cpu", "-y"});
    words.insert(words.end(), more.begin(), more.end());
    return run_lull(words);
  }
  /// Returns the bytes of the result; `log` receives what the command prints.
  std::string denoised(const Words& more, std::string* log = nullptr) const {
    const Outcome outcome =
        run({"denoise", "-i", in_, "--profile", "fast", "--lossless"}, folder_ / "out.mkv", more);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    if (log) *log = outcome.err;
    return bytes_of(folder_ / "out.mkv");
  }
  /// Returns the luma of frame 5, whose left third is black.
  Plane<float> luma() const {
    return test_support::plane_of(frames_of(folder_ / "out.mkv").at(5), 0);
  }
  double psnr() const {
    return test_support::psnr(test_support::plane_of(dark_picture(yuv, 5), 0).view(),
                              luma().view());
  }
  double black() const {
    const Plane<float> plane = luma();
    const PlaneView<const float> view = plane.view();
    return mean_of({view.data, view.width / 4, view.height, view.stride});
  }

  Folder folder_;
  const std::string in_ = folder_ / "in.y4m";
};

TEST_F(ClippedNoise, GivenLevelFiltersAsWellAsAnEstimate) {
  make(12);
  (void)denoised({});
  const double found = psnr();
  std::string log;
  (void)denoised({"--sigma", "40:40:40"}, &log);
  EXPECT_THAT(log, HasSubstr(message));
  EXPECT_GT(psnr(), found - 0.1);
  EXPECT_LT(black(), 1.5);  // 15 without clipping limits
  // Only the level of luma matters, not that of chroma.
  (void)denoised({"--sigma", "40:12:6"}, &log);
  EXPECT_THAT(log, HasSubstr(message));
  EXPECT_LT(black(), 1.5);
  (void)denoised({"--sigma", "40", "--strength", "strong"}, &log);
  EXPECT_THAT(log, HasSubstr(message));
  EXPECT_LT(black(), 1.5);
}

TEST_F(ClippedNoise, LevelThatIsTooHighKeepsDarkParts) {
  make(12);
  std::string log;
  (void)denoised({"--sigma", "100"}, &log);
  EXPECT_THAT(log, HasSubstr("samples are clipped at 0 by noise of "));
  EXPECT_GT(psnr(), 28);  // 20 with a curve for a level of 100
}

TEST_F(ClippedNoise, IsNotReportedForUnclippedSamplesOrWeakNoise) {
  make(6, false);
  std::string log;
  (void)denoised({"--sigma", "5"}, &log);
  EXPECT_THAT(log, Not(HasSubstr("clipped")));
  make(6);
  (void)denoised({"--sigma", "3"}, &log);
  EXPECT_THAT(log, Not(HasSubstr("clipped")));
  // Slices of a stack have their own units.
  (void)denoised({"--sigma", "40", "--stack"}, &log);
  EXPECT_THAT(log, Not(HasSubstr("clipped")));
}

TEST_F(ClippedNoise, ColourChannelsAreTreatedSeparately) {
  const Frame clean = dark_picture(rgb, 0);
  const auto red = clean.plane<std::uint8_t>(0);
  for (int y = 0; y < red.height; ++y)
    for (int x = 0; x < red.width; ++x) red(x, y) = static_cast<std::uint8_t>(red(x, y) + 110);
  const Frame noisy = noisy_picture(clean, 40, 7);
  write_pnm(folder_ / "in.ppm", noisy);
  const Outcome outcome =
      run({"denoise", "-i", folder_ / "in.ppm", "--sigma", "40"}, folder_ / "out.ppm");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err,
              HasSubstr("clipped G at 0 by noise of 40, B at 0 by noise of 40 (8-bit"));
}

TEST_F(ClippedNoise, NoiseFileGetsTheClipLimitsOfTheInput) {
  // The noise file describes a clip that is not clipped, but the input is clipped.
  NoiseRecord record{.layout = Layout::yuv, .scenes = {SceneNoise{}}};
  record.scenes[0].estimate.noise = NoiseModel({40, 40, 40});
  record.scenes[0].estimate.level = {40, 40, 40};
  write_noise(folder_ / "camera.json", record, true);
  make(12);
  const std::string given = denoised({"--sigma", "40"});
  EXPECT_EQ(denoised({"--noise", folder_ / "camera.json"}), given);
  // If correlated noise was measured in a single picture, its sigma is higher than the noise in the
  // samples.
  auto lags = std::make_shared<Autocorrelation>();
  (*lags)[lag_index(0, 0)] = 1;
  (*lags)[lag_index(1, 0)] = (*lags)[lag_index(-1, 0)] = 0.4f;
  record.scenes[0].estimate.noise.plane(0).correlation = lags;
  write_noise(folder_ / "camera.json", record, true);
  (void)denoised({"--noise", folder_ / "camera.json"});
  EXPECT_GT(black(), 8);
  record.scenes[0].over_time = true;
  write_noise(folder_ / "camera.json", record, true);
  (void)denoised({"--noise", folder_ / "camera.json"});
  EXPECT_LT(black(), 2.5);
}

TEST_F(ClippedNoise, PipesSegmentsAndSharedJobsGiveTheBytesOfOneRun) {
  make(20);
  const Words segments{"--sigma", "40", "--segment-frames", "6"};
  const std::string expected = denoised(segments);
  const std::string command = std::string(LULL_PROGRAM) +
                              " - - --sigma 40 --profile fast --device cpu --output-format y4m < " +
                              in_ + " > " + (folder_ / "piped.y4m") + " 2> " + (folder_ / "err");
  ASSERT_EQ(std::system(command.c_str()), 0) << bytes_of(folder_ / "err");
  EXPECT_THAT(bytes_of(folder_ / "err"), HasSubstr(message));
  const std::vector<Frame> one = frames_of(folder_ / "out.mkv");
  const std::vector<Frame> piped = frames_of(folder_ / "piped.y4m");
  ASSERT_EQ(piped.size(), one.size());
  for (std::size_t k = 0; k < one.size(); ++k)
    EXPECT_EQ(test_support::psnr(test_support::plane_of(one[k], 0).view(),
                                 test_support::plane_of(piped[k], 0).view()),
              std::numeric_limits<double>::infinity());

  const std::string job = folder_ / "job";
  Words plan{"plan", "-i", in_, "--job", job, "--profile", "fast", "--lossless"};
  const Outcome planned = run(plan, folder_ / "joined.mkv", segments);
  ASSERT_EQ(planned.code, 0) << planned.err;
  EXPECT_THAT(planned.err, HasSubstr(message));
  for (const std::string segment : {"2", "0", "1-3"}) {
    const Outcome task = run_lull({"denoise", "--job", job, "--segment", segment});
    ASSERT_EQ(task.code, 0) << task.err;
    EXPECT_THAT(task.err, HasSubstr(message));
  }
  ASSERT_EQ(run_lull({"join", job}).code, 0);
  EXPECT_EQ(bytes_of(folder_ / "joined.mkv"), expected);
}

TEST_F(ClippedNoise, InterruptedJobContinuesWithTheSameLimits) {
  make(90);
  const Words segments{"--sigma", "40", "--segment-frames", "15"};
  const std::string expected = denoised(segments);
  Words words{"denoise",  "-i",         in_,  "--profile",
              "fast",     "--lossless", "-o", folder_ / "killed.mkv",
              "--device", "cpu"};
  words.insert(words.end(), segments.begin(), segments.end());
  EXPECT_THAT(killed_in_job(words, folder_ / "killed.mkv"), HasSubstr("the%20clipping"));
  words.push_back("--resume");
  const Outcome outcome = run_lull(words);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(bytes_of(folder_ / "killed.mkv"), expected);
}

TEST_F(ClippedNoise, PreviewAndReportShowTheClipping) {
  make(12);
  const Outcome preview = run({"preview", in_, "--sigma", "40"}, folder_ / "a.png");
  ASSERT_EQ(preview.code, 0) << preview.err;
  EXPECT_THAT(preview.err, HasSubstr(message));
  (void)denoised({"--sigma", "40", "--report", folder_ / "page.html"});
  EXPECT_THAT(bytes_of(folder_ / "page.html"), HasSubstr("0:-:40,-:-:-,-:-:-"));
}

TEST(ClippingText, ParsesItsOwnOutput) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const PlaneClipping clipping{Clipping{0, 255, 40}, Clipping{}, Clipping{-infinity, 16.5f, 0.1f}};
  const std::string text = to_text(clipping);
  EXPECT_EQ(text, "0:255:40,-:-:-,-:16.5:0.100000001");
  const PlaneClipping back = parse_clipping(text, "plan");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(back[i].low, clipping[i].low);
    EXPECT_EQ(back[i].high, clipping[i].high);
    EXPECT_EQ(back[i].level, clipping[i].level);
  }
}

TEST(ClippingText, RejectsInvalidText) {
  for (const char* text :
       {"", "0:255:40", "0:255:40,-:-:-", "0:255:40,-:-:-,-:-:-,", "0:255:40,-:-:-,-:-:-,-:-:-",
        "0:255,-:-,-:-", "a:255:40,-:-:-,-:-:-", "0:nan:40,-:-:-,-:-:-", "0:255:inf,-:-:-,-:-:-",
        "255:0:40,-:-:-,-:-:-", "0:255:-,-:-:-,-:-:-", "-:-:40,-:-:-,-:-:-", "0:255:-4,-:-:-,-:-:-",
        "0:255:40 ,-:-:-,-:-:-"})
    EXPECT_THROW((void)parse_clipping(text, "plan"), BadData) << text;
}

TEST(ClippingText, NamesChannelsOfColourFramesOnly) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const PlaneClipping clipping{Clipping{0, infinity, 25}, Clipping{}, Clipping{16, 235, 9.5f}};
  EXPECT_EQ(describe(clipping, Layout::rgb),
            "R at 0 by noise of 25, B at 16 and 235 by noise of 9.5");
  EXPECT_EQ(describe({Clipping{0, infinity, 25}}, Layout::yuv), "at 0 by noise of 25");
  EXPECT_EQ(describe(PlaneClipping{}, Layout::gray), "");
}

}  // namespace
}  // namespace lull::tools
