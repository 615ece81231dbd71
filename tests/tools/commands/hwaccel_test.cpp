// Tests that --hwaccel changes only where frames are decoded. If a GPU cannot decode them, a
// one-line message reports it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <thread>

#include "io/ffmpeg/ffmpeg.h"
#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using ::testing::HasSubstr;

constexpr const char* fallback = "lull: decoding on the CPU in spite of --hwaccel cuda (";

FrameFormat yuv(int width, int height, int shift_x, int shift_y, int bits) {
  return {.width = width,
          .height = height,
          .layout = Layout::yuv,
          .sample = bits == 8 ? SampleType::u8 : SampleType::u16,
          .bits = bits,
          .chroma_shift_x = shift_x,
          .chroma_shift_y = shift_y};
}

struct Clip {
  const char* name;
  const char* encoder;
  FrameFormat format;
  int frames = 9;
  std::vector<std::pair<std::string, std::string>> options{};
};

std::ostream& operator<<(std::ostream& out, const Clip& clip) { return out << clip.name; }

/// Returns the line that reports the fallback to the CPU; empty if there is none.
std::string fallback_line(const Outcome& outcome) {
  const std::size_t begin = outcome.err.find(fallback);
  if (begin == std::string::npos) return {};
  return outcome.err.substr(begin, outcome.err.find('\n', begin) - begin);
}

class Hwaccel : public ::testing::Test {
 protected:
  void make(const Clip& clip) {
    std::vector<Frame> frames;
    for (int i = 0; i < clip.frames; ++i)
      frames.push_back(noisy_picture(clean_picture(clip.format, 0.2 * i), 10, i + 1));
    write_y4m(folder_ / "made.y4m", frames);
    io::SinkOptions options;
    options.vcodec = clip.encoder;
    options.vopts = clip.options;
    convert(folder_ / "made.y4m", folder_ / "in.mkv", options);
  }
  Outcome denoise(const std::string& to, std::vector<std::string> more,
                  const std::string& from = "in.mkv") {
    more.insert(more.begin(), {"denoise", "-i", folder_ / from, "-o", folder_ / to, "--sigma",
                               "10:0:5", "--profile", "fast", "--lossless", "-y"});
    return run_lull(more);
  }
  /// Denoises with and without the option and expects equal bytes; returns the line of the
  /// fallback.
  std::string compare(const std::vector<std::string>& more) {
    std::vector<std::string> with = more;
    with.insert(with.end(), {"--hwaccel", "cuda"});
    const Outcome plain = denoise("plain.mkv", more), fast = denoise("fast.mkv", with);
    EXPECT_EQ(plain.code, 0) << plain.err;
    EXPECT_EQ(fast.code, 0) << fast.err;
    if (plain.code != 0 || fast.code != 0) return {};
    EXPECT_TRUE(bytes_of(folder_ / "plain.mkv") == bytes_of(folder_ / "fast.mkv")) << fast.err;
    const std::string line = fallback_line(fast);
    EXPECT_EQ(fast.error_lines(), plain.error_lines() + (line.empty() ? 0 : 1)) << fast.err;
    return line;
  }
  /// A pipe cannot be read again. The CPU must get the data that the GPU has read but cannot
  /// decode.
  void expect_same_from_pipe(std::vector<std::string> more) {
    const std::string pipe = folder_ / "pipe";
    std::filesystem::remove(pipe);
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    ASSERT_EQ(denoise("file.mkv", more).code, 0);
    const std::jthread feeder([&] { write_bytes(pipe, bytes_of(folder_ / "in.mkv")); });
    more.insert(more.end(), {"--hwaccel", "cuda"});
    const Outcome piped = denoise("piped.mkv", more, "pipe");
    EXPECT_EQ(piped.code, 0) << piped.err;
    if (piped.code != 0) return;
    EXPECT_TRUE(bytes_of(folder_ / "file.mkv") == bytes_of(folder_ / "piped.mkv"));
  }
  Folder folder_;
};

TEST_F(Hwaccel, CpuBackendDecodesOnTheCpuAndReportsIt) {
  make({"", "ffv1", yuv(48, 34, 1, 1, 8)});
  EXPECT_THAT(compare({"--device", "cpu"}), HasSubstr("not denoised on a GPU"));
  const Outcome quiet = denoise("quiet.mkv", {"--device", "cpu", "--hwaccel", "cuda", "-q"});
  EXPECT_EQ(quiet.code, 0);
  EXPECT_EQ(quiet.err, "");
  expect_same_from_pipe({"--device", "cpu"});
}

TEST_F(Hwaccel, AutoFallsBackToTheCpu) {
  make({"", "ffv1", yuv(48, 34, 1, 1, 8)});
  // No GPU decodes FFV1, so the CPU decodes it, with and without a GPU.
  const std::string line = compare({"--device", "auto"});
  EXPECT_THAT(line, HasSubstr(missing_device("cuda").empty() ? "ffv1" : "not denoised on a GPU"));
}

class HwaccelOn : public Hwaccel, public ::testing::WithParamInterface<Clip> {};

TEST_P(HwaccelOn, GivesTheBytesOfTheCpuDecoder) {
  const Clip& clip = GetParam();
  if (!missing_device("cuda").empty()) GTEST_SKIP() << missing_device("cuda");
  if (!avcodec_find_encoder_by_name(clip.encoder)) GTEST_SKIP() << "no encoder " << clip.encoder;
  make(clip);
  const std::string line = compare({"--device", "cuda:0"});
  EXPECT_EQ(compare({"--device", "cuda:0", "--frames", "1-2,4-"}), line);
  for (const std::vector<std::string>& limit :
       {std::vector<std::string>{"--max-pixels", "9999"}, {"--max-frames", "3"}}) {
    std::vector<std::string> more{"--device", "cuda:0", "--hwaccel", "cuda"};
    more.insert(more.end(), limit.begin(), limit.end());
    EXPECT_EQ(denoise("limited.mkv", more).code, 65) << limit[0];
  }
  for (const char* radius : {"0", "1"})
    EXPECT_EQ(compare({"--device", "cuda:0", "--method", "nlm", "--temporal", radius}), line);
  expect_same_from_pipe({"--device", "cuda:0"});
  if (missing_device("cuda:0,1").empty()) {
    EXPECT_EQ(compare({"--device", "cuda:0,1", "--streams", "1"}), line);
    EXPECT_THAT(compare({"--device", "cuda:0,1", "--temporal", "1"}),
                HasSubstr("several GPUs use"));
    EXPECT_EQ(compare({"--device", "cuda:1"}), line);
  }
  // Every GPU decodes H.264 if the driver's library is installed.
  if (std::string(clip.name) == "h264") {
    EXPECT_TRUE(line.empty() || line.find("nvcuvid") != std::string::npos) << line;
  }
  if (std::string(clip.name).ends_with("on_the_cpu")) {
    EXPECT_NE(line, "");
  } else if (!line.empty()) {
    GTEST_SKIP() << line;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Hwaccel, HwaccelOn,
    ::testing::Values(Clip{"h264", "libx264", yuv(318, 182, 1, 1, 8), 40},
                      Clip{"h264_1918x1078", "libx264", yuv(1918, 1078, 1, 1, 8), 4},
                      Clip{"h264_many_references",
                           "libx264",
                           yuv(320, 192, 1, 1, 8),
                           60,
                           {{"refs", "16"}, {"bf", "16"}}},
                      Clip{"h264_10_bits", "libx264", yuv(318, 182, 1, 1, 10)},
                      Clip{"h264_422", "libx264", yuv(318, 182, 1, 0, 10)},
                      Clip{"h264_444_on_the_cpu", "libx264", yuv(318, 182, 0, 0, 8)},
                      Clip{"h264_cropped_at_the_left_on_the_cpu",
                           "libx264",
                           yuv(320, 192, 1, 1, 8),
                           9,
                           {{"x264-params", "crop-rect=6,2,4,0"}}},
                      Clip{"hevc", "libx265", yuv(318, 182, 1, 1, 8), 40},
                      Clip{"hevc_10_bits", "libx265", yuv(318, 182, 1, 1, 10)},
                      Clip{"hevc_12_bits", "libx265", yuv(318, 182, 1, 1, 12)},
                      Clip{"hevc_10_bits_1918x1078", "libx265", yuv(1918, 1078, 1, 1, 10), 4},
                      Clip{"hevc_444", "libx265", yuv(318, 182, 0, 0, 8)},
                      Clip{"hevc_444_10_bits", "libx265", yuv(318, 182, 0, 0, 10)},
                      Clip{"vp9_odd_width", "libvpx-vp9", yuv(317, 182, 1, 1, 8)},
                      Clip{"vp9_odd_height_on_the_cpu", "libvpx-vp9", yuv(318, 181, 1, 1, 8)},
                      Clip{"av1", "libaom-av1", yuv(318, 182, 1, 1, 8), 5, {{"cpu-used", "8"}}}),
    [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace lull::tools
