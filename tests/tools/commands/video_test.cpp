// Tests the command on clips: the streams that accompany the denoised pictures, and the encoding.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/pictures.h"
#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using ::testing::HasSubstr;

constexpr FrameFormat yuv420{
    .width = 45, .height = 33, .layout = Layout::yuv, .chroma_shift_x = 1, .chroma_shift_y = 1};

// x264 and x265 require even sizes.
constexpr FrameFormat even420{
    .width = 48, .height = 34, .layout = Layout::yuv, .chroma_shift_x = 1, .chroma_shift_y = 1};

FrameFormat with(FrameFormat format, int shift_x, int shift_y, int bits) {
  format.chroma_shift_x = shift_x;
  format.chroma_shift_y = shift_y;
  format.bits = bits;
  format.sample = bits == 8 ? SampleType::u8 : SampleType::u16;
  return format;
}

std::vector<Frame> noisy_clip(const FrameFormat& format, int frames, double sigma = 20) {
  std::vector<Frame> clip;
  for (int i = 0; i < frames; ++i)
    clip.push_back(noisy_picture(clean_picture(format, 0.2 * i), sigma, i + 1));
  return clip;
}

Outcome denoise(const std::string& from, const std::string& to, std::vector<std::string> more = {},
                const std::string& device = "reference") {
  more.insert(more.begin(), {"denoise", "-i", from, "-o", to, "--sigma", "20", "--profile", "fast",
                             "--device", device});
  return run_lull(more);
}

TEST(Video, EveryFormatPassesUnchangedWithoutNoise) {
  Folder folder;
  const FrameFormat gray{.width = 45, .height = 33};
  for (const FrameFormat& format :
       {gray, yuv420, with(yuv420, 1, 0, 8), with(yuv420, 0, 0, 8), with(yuv420, 1, 1, 10),
        with(yuv420, 1, 0, 10), with(yuv420, 0, 0, 12), with(yuv420, 0, 0, 16)}) {
    SCOPED_TRACE(std::to_string(format.bits) + " bits, shift " +
                 std::to_string(format.chroma_shift_x) + std::to_string(format.chroma_shift_y));
    const std::vector<Frame> clip = noisy_clip(format, 3);
    write_y4m(folder / "in.y4m", clip);
    const Outcome outcome = run_lull({"denoise", "-i", folder / "in.y4m", "-o", folder / "out.mkv",
                                      "--sigma", "0", "--lossless", "-y", "--device", "reference"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(facts_of(folder / "out.mkv").first("video").codec, "ffv1");
    const std::vector<Frame> result = frames_of(folder / "out.mkv");
    ASSERT_EQ(result.size(), clip.size());
    for (std::size_t i = 0; i < clip.size(); ++i) {
      ASSERT_EQ(result[i].format, format);
      EXPECT_TRUE(lull::test_support::same_samples(result[i], clip[i])) << i;
    }
  }
}

class VideoOn : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string missing = missing_device(GetParam());
    if (!missing.empty()) GTEST_SKIP() << missing;
  }
  Folder folder_;
};

INSTANTIATE_TEST_SUITE_P(Video, VideoOn, ::testing::Values("reference", "cpu", "cuda", "cuda:0,1"),
                         [](const auto& param) {
                           const std::string device = param.param;
                           return device == "cuda:0,1" ? std::string("two_gpus") : device;
                         });

TEST_P(VideoOn, RemovesNoiseFromEveryFrame) {
  for (const FrameFormat& format : {yuv420, with(yuv420, 1, 0, 10), with(yuv420, 0, 0, 8)}) {
    std::vector<Frame> clip;
    const Frame clean = clean_picture(format);
    for (int i = 0; i < 7; ++i) clip.push_back(noisy_picture(clean, 20, i + 1));
    write_y4m(folder_ / "in.y4m", clip);
    const Outcome outcome =
        denoise(folder_ / "in.y4m", folder_ / "out.mkv", {"--lossless", "-y"}, GetParam());
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const std::vector<Frame> result = frames_of(folder_ / "out.mkv");
    ASSERT_EQ(result.size(), clip.size());
    for (std::size_t i = 0; i < clip.size(); ++i)
      for (int plane = 0; plane < 3; ++plane) {
        const Plane<float> truth = lull::test_support::plane_of(clean, plane);
        const auto against_truth = [&](const Frame& frame) {
          return lull::test_support::psnr(truth.view(),
                                          lull::test_support::plane_of(frame, plane).view());
        };
        // The chroma planes of 4:2:0 have 23x17 samples here, too few for a larger gain.
        EXPECT_GT(against_truth(result[i]), against_truth(clip[i]) + (plane == 0 ? 3 : 1))
            << "frame " << i << " plane " << plane;
      }
  }
}

TEST_P(VideoOn, ThreadsAndStreamsDoNotChangeTheBytes) {
  write_y4m(folder_ / "in.y4m", noisy_clip(even420, 9));
  std::string first;
  for (const char* threads : {"1", "2", "0"})
    for (const char* streams : {"1", "4"}) {
      const Outcome outcome =
          denoise(folder_ / "in.y4m", folder_ / "out.mkv",
                  {"-y", "--threads", threads, "--streams", streams}, GetParam());
      ASSERT_EQ(outcome.code, 0) << outcome.err;
      const std::string bytes = bytes_of(folder_ / "out.mkv");
      if (first.empty()) first = bytes;
      EXPECT_TRUE(bytes == first) << threads << " threads, " << streams << " streams";
    }
}

TEST_P(VideoOn, SoundSubtitlesTimestampsAndTitleAreKept) {
  write_y4m(folder_ / "made.y4m", noisy_clip(even420, 12));
  convert(folder_ / "made.y4m", folder_ / "made.mkv", {.lossless = true});
  add_other_streams(folder_ / "made.mkv", folder_ / "in.mkv");
  const FileFacts in = facts_of(folder_ / "in.mkv");
  ASSERT_EQ(in.streams.size(), 3u);
  ASSERT_EQ(in.first("video").pts_ms.size(), 12u);
  ASSERT_EQ(in.first("video").pts_ms[2], 102);

  const Outcome outcome = denoise(folder_ / "in.mkv", folder_ / "out.mkv", {}, GetParam());
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const FileFacts out = facts_of(folder_ / "out.mkv");
  ASSERT_EQ(out.streams.size(), 3u);
  EXPECT_EQ(out.title, "Tennis & tea");
  EXPECT_EQ(out.first("video").pts_ms, in.first("video").pts_ms);
  for (const char* type : {"audio", "subtitle"}) {
    EXPECT_EQ(out.first(type).codec, in.first(type).codec);
    EXPECT_EQ(out.first(type).pts_ms, in.first(type).pts_ms);
    EXPECT_EQ(out.first(type).packets, in.first(type).packets);
  }
  EXPECT_EQ(out.first("audio").language, in.first("audio").language);
}

class Encoding : public ::testing::Test {
 protected:
  void SetUp() override {
    write_y4m(folder_ / "in8.y4m", noisy_clip(even420, 8));
    write_y4m(folder_ / "in10.y4m", noisy_clip(with(even420, 1, 1, 10), 3));
  }
  StreamFacts encode(const std::string& from, const std::string& to,
                     std::vector<std::string> more = {}) {
    more.insert(more.end(), {"-y"});
    const Outcome outcome = denoise(folder_ / from, folder_ / to, more);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.code == 0 ? facts_of(folder_ / to).first("video") : StreamFacts{};
  }
  std::size_t size(const std::string& name) const { return bytes_of(folder_ / name).size(); }
  Folder folder_;
};

TEST_F(Encoding, OutputNameSelectsTheEncoder) {
  EXPECT_EQ(encode("in8.y4m", "a.mkv").codec, "h264");
  EXPECT_EQ(encode("in8.y4m", "a.mp4").codec, "h264");
  EXPECT_EQ(encode("in10.y4m", "b.mkv").codec, "hevc");
  EXPECT_EQ(encode("in8.y4m", "c.mkv", {"--lossless"}).codec, "ffv1");
  EXPECT_EQ(encode("in8.y4m", "d.y4m").codec, "rawvideo");
  EXPECT_EQ(encode("in8.y4m", "e.mkv", {"--vcodec", "ffv1"}).codec, "ffv1");
  EXPECT_THAT(facts_of(folder_ / "a.mp4").container, HasSubstr("mp4"));
  EXPECT_THAT(facts_of(folder_ / "a.mkv").container, HasSubstr("matroska"));
}

TEST_F(Encoding, PixelFormatIsKeptOrConvertedOnRequest) {
  EXPECT_EQ(encode("in8.y4m", "a.mkv").pixel_format, "yuv420p");
  EXPECT_EQ(encode("in10.y4m", "b.mkv").pixel_format, "yuv420p10le");
  EXPECT_EQ(encode("in8.y4m", "c.mkv", {"--pix-fmt", "yuv444p"}).pixel_format, "yuv444p");
  EXPECT_EQ(encode("in10.y4m", "d.mkv", {"--pix-fmt", "yuv420p", "--vcodec", "ffv1"}).pixel_format,
            "yuv420p");
}

TEST_F(Encoding, OddSizesAreKept) {
  write_y4m(folder_ / "odd.y4m", noisy_clip(yuv420, 2));
  encode("odd.y4m", "odd.mkv");
  EXPECT_EQ(frames_of(folder_ / "odd.mkv").at(1).format, yuv420);
}

TEST_F(Encoding, CrfAndOptionsReachTheEncoder) {
  encode("in8.y4m", "good.mkv", {"--crf", "5"});
  encode("in8.y4m", "bad.mkv", {"--crf", "45"});
  EXPECT_LT(size("bad.mkv") + 1000, size("good.mkv"));
  EXPECT_EQ(encode("in8.y4m", "one.mkv").keyframes, 1);
  EXPECT_EQ(encode("in8.y4m", "all.mkv", {"--vopts", "preset=ultrafast:g=1"}).keyframes, 8);
}

TEST_F(Encoding, SummaryIsPrintedUnlessQuiet) {
  const Outcome plain = denoise(folder_ / "in8.y4m", folder_ / "a.mkv");
  ASSERT_EQ(plain.code, 0);
  EXPECT_EQ(plain.out, "");
  EXPECT_THAT(plain.err, ::testing::ContainsRegex("8 frames in [0-9.]+ s, [0-9.]+ fps; "
                                                  "busiest stage: (decode|denoise|encode)"));
  EXPECT_THAT(plain.err, ::testing::Not(HasSubstr("\r")));
  const Outcome quiet = denoise(folder_ / "in8.y4m", folder_ / "b.mkv", {"-q"});
  EXPECT_EQ(quiet.code, 0);
  EXPECT_EQ(quiet.err, "");
}

TEST_F(Encoding, ProgressLineIsShownOnATerminal) {
  write_y4m(folder_ / "long.y4m", noisy_clip(even420, 40));
  const Outcome live = run_lull({"denoise", "-i", folder_ / "long.y4m", "-o", folder_ / "a.mkv",
                                 "--sigma", "20", "--profile", "paper", "--device", "reference"},
                                {.terminal = true});
  ASSERT_EQ(live.code, 0) << live.err;
  EXPECT_THAT(live.err, ::testing::ContainsRegex(
                            "\r *[0-9]+% \\[#*\\.*\\]  [0-9]+/40  ETA [0-9:]+  [0-9.]+ fps"));
  EXPECT_THAT(live.err, HasSubstr("40 frames in"));
}

TEST_F(Encoding, AutoReportsTheChosenDevice) {
  const Outcome outcome = denoise(folder_ / "in8.y4m", folder_ / "a.mkv", {}, "auto");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string missing = missing_device("cuda");
  EXPECT_THAT(outcome.err, HasSubstr(missing.empty() ? "lull: device cuda:0" : "lull: device cpu"));
  EXPECT_THAT(outcome.err, HasSubstr(missing));
}

}  // namespace
}  // namespace lull::tools
