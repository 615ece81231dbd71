// Tests outputs that cannot store the pixel format of the input, and single pictures of a video.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "io/picture.h"
#include "support/pictures.h"
#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr FrameFormat even420{
    .width = 64, .height = 48, .layout = Layout::yuv, .chroma_shift_x = 1, .chroma_shift_y = 1};

constexpr double rounding = 1.5;  // error of converting YCbCr to RGB of 8 bits, in levels

FrameFormat with_bits(FrameFormat format, int bits) {
  format.bits = bits;
  format.sample = bits == 8 ? SampleType::u8 : SampleType::u16;
  return format;
}

std::vector<Frame> clip_of(const FrameFormat& format, int frames) {
  std::vector<Frame> clip;
  for (int i = 0; i < frames; ++i) clip.push_back(clean_picture(format, 0.4 * i));
  return clip;
}

class Conversion : public ::testing::Test {
 protected:
  /// Runs the command without a filter, so that only the conversion changes samples.
  Outcome pass(const std::string& from, const std::string& to, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {folder_ / from, folder_ / to, "--sigma", "0", "--device",
                               "reference", "--progress", "none"});
    return run_lull(more);
  }
  std::string pixels_of(const std::string& name) {
    return facts_of(folder_ / name).first("video").pixel_format;
  }
  Frame only_frame(const std::string& name) {
    std::vector<Frame> frames = frames_of(folder_ / name);
    EXPECT_EQ(frames.size(), 1u);
    return frames.at(0);
  }
  /// Returns the maximum difference of the displayed colours, on the scale of 255.
  static double difference(const Frame& a, const Frame& b) {
    const Frame one = io::to_rgb(a), other = io::to_rgb(b);
    double most = 0;
    for (int plane = 0; plane < 3; ++plane)
      for (int y = 0; y < one.format.height; ++y)
        for (int x = 0; x < one.format.width; ++x)
          most = std::max(most, std::abs(one.plane<std::uint16_t>(plane)(x, y) -
                                         other.plane<std::uint16_t>(plane)(x, y)) /
                                    257.0);
    return most;
  }
  /// Returns the mean difference in displayed brightness of a plane of the first frame.
  static double bias(const Frame& a, const Frame& b, int plane) {
    const Frame one = io::to_rgb(a), other = io::to_rgb(b);
    double sum = 0;
    for (int y = 0; y < one.format.height; ++y)
      for (int x = 0; x < one.format.width; ++x)
        sum += (one.plane<std::uint16_t>(plane)(x, y) - other.plane<std::uint16_t>(plane)(x, y)) /
               257.0;
    return sum / (one.format.width * one.format.height);
  }
  void make_photo() {
    write_pnm(folder_ / "photo.ppm",
              clean_picture({.width = 64, .height = 48, .layout = Layout::rgb}));
    convert(folder_ / "photo.ppm", folder_ / "photo.jpg", {});
  }
  Folder folder_;
};

TEST_F(Conversion, JpegConvertsToPng) {
  make_photo();
  const Outcome outcome = pass("photo.jpg", "photo.png");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("png cannot hold yuvj4"));
  EXPECT_THAT(outcome.err, HasSubstr("samples become rgb24"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("warning")));  // nothing is lost
  EXPECT_EQ(pixels_of("photo.png"), "rgb24");
  EXPECT_LE(difference(only_frame("photo.jpg"), only_frame("photo.png")), rounding);
  // The comparison with the source of the JPEG shows that the colours are right.
  for (int plane = 0; plane < 3; ++plane)
    EXPECT_NEAR(bias(only_frame("photo.ppm"), only_frame("photo.png"), plane), 0, 1) << plane;
}

TEST_F(Conversion, VideoFrameConvertsToJpeg) {
  FrameFormat large = even420;
  large.height = 720;  // a picture of this size is BT.709 if it has no tag; a JPEG never is
  for (const FrameFormat& format : {even420, large}) {
    std::vector<Frame> clip = clip_of(format, 4);
    const int brick[] = {110, 100, 180};  // a colour that depends clearly on the matrix
    for (int plane = 0; plane < 3; ++plane)
      for (int y = 0; y < format.plane_height(plane); ++y)
        std::fill_n(clip[2].plane<std::uint8_t>(plane).row(y), format.plane_width(plane),
                    static_cast<std::uint8_t>(brick[plane]));
    write_y4m(folder_ / "in.y4m", clip);
    // The inputs are the clip itself, and the clip in the full range of a JPEG.
    convert(folder_ / "in.y4m", folder_ / "in.mkv",
            {.vcodec = "libx264", .pix_fmt = "yuvj420p", .lossless = true, .overwrite = true});
    for (const char* input : {"in.y4m", "in.mkv"}) {
      SCOPED_TRACE(std::string(input) + " of " + std::to_string(format.height) + " rows");
      const Outcome outcome = pass(input, "p.jpg", {"--keep", "2", "-y"});
      ASSERT_EQ(outcome.code, 0) << outcome.err;
      EXPECT_THAT(pixels_of("p.jpg"), HasSubstr("yuvj420p"));
      for (int plane = 0; plane < 3; ++plane)
        EXPECT_NEAR(bias(frames_of(folder_ / input).at(2), only_frame("p.jpg"), plane), 0, 1.5)
            << plane;
    }
  }
}

TEST_F(Conversion, KeepsDepthAndSubsamplingIfPossible) {
  write_y4m(folder_ / "ten.y4m", clip_of(with_bits(even420, 10), 1));
  ASSERT_EQ(pass("ten.y4m", "ten.png").code, 0);
  EXPECT_EQ(pixels_of("ten.png"), "rgb48be");
  write_y4m(folder_ / "in.y4m", clip_of(even420, 2));
  convert(folder_ / "in.y4m", folder_ / "dv.mkv", {.pix_fmt = "yuv411p", .lossless = true});
  const Outcome outcome = pass("dv.mkv", "dv.mp4");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(pixels_of("dv.mp4"), "yuv422p");
  EXPECT_THAT(outcome.err, HasSubstr("libx264 cannot hold yuv411p; samples become yuv422p"));
  write_pnm(folder_ / "grey.pgm", clean_picture({.width = 20, .height = 10}));
  ASSERT_EQ(pass("grey.pgm", "grey.ppm").code, 0);
  EXPECT_LE(difference(only_frame("grey.pgm"), only_frame("grey.ppm")), 0.01);
}

TEST_F(Conversion, GifConvertsToVideo) {
  std::vector<Frame> clip;
  for (int i = 0; i < 4; ++i)
    clip.push_back(clean_picture({.width = 48, .height = 32, .layout = Layout::rgb}, 0.3 * i));
  for (int i = 0; i < 4; ++i) write_pnm(folder_ / ("g" + std::to_string(i) + ".ppm"), clip[i]);
  if (std::system(
          ("ffmpeg -v error -i '" + (folder_ / "g%d.ppm") + "' '" + (folder_ / "in.gif") + "'")
              .c_str()) != 0)
    GTEST_SKIP() << "no command ffmpeg";
  const Outcome outcome = pass("in.gif", "out.mp4", {"--crf", "0"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("few players support H.264 of RGB"));
  const Outcome asked = pass("in.gif", "all.mp4", {"--pix-fmt", "yuv420p"});
  ASSERT_EQ(asked.code, 0) << asked.err;
  EXPECT_THAT(asked.err, Not(HasSubstr("few players")));
  EXPECT_EQ(pixels_of("all.mp4"), "yuv420p");
  EXPECT_THAT(outcome.err, HasSubstr("samples become"));
  const std::vector<Frame> in = frames_of(folder_ / "in.gif"), out = frames_of(folder_ / "out.mp4");
  ASSERT_EQ(out.size(), in.size());
  for (std::size_t i = 0; i < in.size(); ++i) EXPECT_LE(difference(in[i], out[i]), rounding) << i;
}

TEST_F(Conversion, LossesAreReportedOrRejected) {
  write_y4m(folder_ / "in.y4m", clip_of(even420, 2));
  convert(folder_ / "in.y4m", folder_ / "alpha.mkv", {.pix_fmt = "yuva444p10le", .lossless = true});
  const Outcome outcome = pass("alpha.mkv", "out.mp4");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, ContainsRegex("warning: not in the output: alpha \\(lib"));
  const Outcome strict = pass("alpha.mkv", "strict.mp4", {"--strict-metadata"});
  EXPECT_EQ(strict.code, 2);
  EXPECT_THAT(strict.err, HasSubstr("not in the output: alpha"));
  EXPECT_EQ(strict.error_lines(), 1);
  EXPECT_THAT(folder_.names(), ::testing::Not(::testing::Contains("strict.mp4")));
  // lull does not replace a pixel format that the user requested explicitly.
  EXPECT_EQ(pass("alpha.mkv", "asked.mp4", {"--pix-fmt", "yuva420p"}).code, 2);
  write_pnm(folder_ / "colour.ppm",
            clean_picture({.width = 20, .height = 10, .layout = Layout::rgb}));
  EXPECT_EQ(pass("colour.ppm", "grey.pgm").code, 2);
  EXPECT_EQ(pass("colour.ppm", "rounded.mkv", {"--lossless", "--vcodec", "libx264"}).code, 2);
  EXPECT_EQ(pass("colour.ppm", "rounded.mkv", {"--vcodec", "libx264"}).code, 0);
}

TEST_F(Conversion, FrameOfAVideoCanBeWrittenAsPicture) {
  const std::vector<Frame> clip = clip_of(even420, 6);
  write_y4m(folder_ / "in.y4m", clip);
  const auto chosen = [&](const std::string& name, std::size_t frame,
                          const std::vector<std::string>& more) {
    const Outcome outcome = pass("in.y4m", name, more);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("1 frame in"));
    EXPECT_LE(difference(only_frame(name), clip[frame]), rounding) << frame;
    EXPECT_GT(difference(only_frame(name), clip[(frame + 1) % 6]), 5) << frame;
    const bool said =
        outcome.err.find("is a single picture: only the first frame") != std::string::npos;
    EXPECT_EQ(said, more.empty() || more.front() != "--keep") << outcome.err;
  };
  chosen("a.png", 0, {});
  chosen("b.png", 2, {"--start", "0.08"});
  chosen("c.png", 3, {"--frames", "3-4"});
  chosen("d.png", 4, {"--keep", "4"});
  const Outcome none = pass("in.y4m", "e.png", {"--keep", "6"});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("--keep 6 (the input has 6 frames"));
}

TEST_F(Conversion, PictureWithTemporalFilteringEqualsThatOfTheClip) {
  std::vector<Frame> clip;
  for (int i = 0; i < 24; ++i) clip.push_back(noisy_picture(clean_picture(even420), 20, i + 1));
  write_y4m(folder_ / "in.y4m", clip);
  const std::vector<std::string> how{"--sigma", "20", "--device", "cpu", "-q"};
  const auto run = [&](std::vector<std::string> more) {
    more.insert(more.begin(), "denoise");
    more.insert(more.end(), how.begin(), how.end());
    const Outcome outcome = run_lull(more);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
  };
  run({folder_ / "in.y4m", folder_ / "all.y4m"});
  run({folder_ / "in.y4m", folder_ / "one.png"});
  const Frame whole = frames_of(folder_ / "all.y4m").at(0);
  // Only the clip is rounded to 8 bits of YCbCr, which are up to a level of RGB.
  EXPECT_LE(difference(whole, only_frame("one.png")), rounding + 1);
}

}  // namespace
}  // namespace lull::tools
