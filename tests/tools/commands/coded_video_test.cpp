// Noise of videos that a codec has coarsened: the error of the codec is found and removed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/ffmpeg/ffmpeg.h"
#include "io/media.h"
#include "io/quantiser.h"
#include "support/pictures.h"
#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Levels = std::array<double, 3>;

constexpr FrameFormat yuv{
    .width = 144, .height = 112, .layout = Layout::yuv, .chroma_shift_x = 1, .chroma_shift_y = 1};
constexpr int frame_count = 6;

class CodedVideo : public ::testing::Test {
 protected:
  /// Writes a moving clip with noise, encoded by `vcodec`.
  std::string coded(double sigma, const char* vcodec, double crf) {
    std::vector<Frame> noisy;
    clean_.clear();
    for (int i = 0; i < frame_count; ++i) {
      clean_.push_back(clean_picture(yuv, 0.02 * i));
      noisy.push_back(noisy_picture(clean_.back(), sigma, 100 + i));
    }
    write_y4m(folder_ / "in.y4m", noisy);
    io::SinkOptions options{.vcodec = vcodec, .crf = crf, .overwrite = true};
    if (options.vcodec == "libx265") options.vopts = {{"x265-params", "log-level=none"}};
    convert(folder_ / "in.y4m", folder_ / "coded.mkv", options);
    return folder_ / "coded.mkv";
  }
  std::string noise_of(const std::string& path) { return run_lull({"noise", path}).out; }
  /// Denoises a file, and returns the PSNR of each plane of the result in dB.
  Levels psnr_after(const std::string& path, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {path, folder_ / "out.mkv", "--profile", "balanced", "--temporal",
                               "1", "--device", "cpu", "--lossless", "-y"});
    const Outcome outcome = run_lull(more);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return psnr_of(folder_ / "out.mkv");
  }
  /// Returns the PSNR of each plane in dB, over all frames.
  Levels psnr_of(const std::string& path) const {
    const std::vector<Frame> frames = frames_of(path);
    Levels result{};
    for (int i = 0; i < 3; ++i) {
      double error = 0;
      for (std::size_t n = 0; n < clean_.size(); ++n)
        error += std::pow(
            10, -lull::test_support::psnr(lull::test_support::plane_of(clean_[n], i).view(),
                                          lull::test_support::plane_of(frames.at(n), i).view()) /
                    10);
      result[i] = -10 * std::log10(error / static_cast<double>(clean_.size()));
    }
    return result;
  }

  Folder folder_;
  std::vector<Frame> clean_;
};

TEST_F(CodedVideo, CoarseQuantisationIsFilteredNearlyLikeTheBestSingleLevel) {
  const std::string in = coded(7, "libx264", 28);
  EXPECT_THAT(noise_of(in), HasSubstr(", codec error Y "));
  const Levels before = psnr_of(in), after = psnr_after(in);
  Levels best{};
  for (const char* sigma : {"5:3:3", "8:5:5", "11:7:7"}) {
    const Levels single = psnr_after(in, {"--sigma", sigma});
    for (int i = 0; i < 3; ++i) best[i] = std::max(best[i], single[i]);
  }
  for (int i = 0; i < 3; ++i) {
    EXPECT_GT(after[i], before[i] + 1.2) << i;
    // The result is 0.39 to 0.47 dB below the best level, because frames are compared at the
    // measured level, which does not show that they share the codec's error
    // (docs/measurements/coded-video.md).
    EXPECT_GT(after[i], best[i] - 0.6) << i;
  }
}

TEST_F(CodedVideo, CodecErrorGrowsWithTheQuantiser) {
  std::array<float, 3> before{};
  for (const double crf : {14, 22, 30}) {
    const std::string in = coded(7, "libx264", crf);
    const auto source = io::open_source(in);
    const std::array<float, 3> steps = io::quantiser_steps(source->read().value());
    for (int i = 0; i < 3; ++i) EXPECT_GT(steps[i], 1.5f * before[i]) << crf << " plane " << i;
    before = steps;
  }
}

TEST_F(CodedVideo, StepsOfOtherCodecsComeFromTheirHeaders) {
  for (const auto& [vcodec, crf] : {std::pair{"libx265", 28.0}, std::pair{"libsvtav1", 40.0}}) {
    if (!avcodec_find_encoder_by_name(vcodec)) continue;
    const auto source = io::open_source(coded(7, vcodec, crf));
    const std::array<float, 3> steps = io::quantiser_steps(source->read().value());
    EXPECT_GT(steps[0], 8) << vcodec;
    EXPECT_LT(steps[0], 60) << vcodec;
    EXPECT_LE(steps[1], steps[0]) << vcodec;
  }
}

TEST_F(CodedVideo, LosslessAndCleanInputsHaveNoCodecError) {
  coded(7, "libx264", 18);
  convert(folder_ / "in.y4m", folder_ / "ffv1.mkv", {.lossless = true, .overwrite = true});
  EXPECT_THAT(noise_of(folder_ / "ffv1.mkv"), Not(HasSubstr("codec error")));
  convert(folder_ / "in.y4m", folder_ / "x264.mkv",
          {.vcodec = "libx264", .lossless = true, .overwrite = true});
  EXPECT_EQ(noise_of(folder_ / "x264.mkv"), noise_of(folder_ / "ffv1.mkv"));
  EXPECT_THAT(noise_of(coded(0, "libx264", 16)), Not(HasSubstr("codec error")));
}

TEST_F(CodedVideo, StepsAreEqualForAnyNumberOfThreads) {
  const std::string in = coded(7, "libx264", 26);
  const auto steps_with = [&](int threads) {
    std::vector<std::array<float, 3>> steps;
    const auto source = io::open_source(in, {.threads = threads});
    while (const std::optional<Frame> frame = source->read())
      steps.push_back(io::quantiser_steps(*frame));
    return steps;
  };
  const auto one = steps_with(1);
  ASSERT_EQ(one.size(), frame_count);
  EXPECT_GT(one.back()[0], 0);
  EXPECT_EQ(steps_with(7), one);
}

TEST_F(CodedVideo, EstimateSurvivesANoiseFile) {
  const std::string in = coded(7, "libx264", 28), file = folder_ / "noise.json";
  ASSERT_EQ(run_lull({"noise", in, "-o", file}).code, 0);
  EXPECT_EQ(psnr_after(in, {"--noise", file}), psnr_after(in));
}

}  // namespace
}  // namespace lull::tools
