// Tests that invalid requests are rejected before any file is created.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/support/clip.h"

namespace lull::io::test {
namespace {

using testing::HasSubstr;

class Options : public testing::Test {
 protected:
  void SetUp() override { make_clip(in, {}); }

  /// Returns the message of InvalidArgument; empty if it is not thrown.
  std::string refusal(const std::string& name, const SinkOptions& options) {
    try {
      const auto source = open_source(in);
      const auto sink = open_sink(folder / name, *source, options);
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(folder.files(), std::vector<std::string>{"in.mkv"});
      EXPECT_THAT(error.what(), testing::Not(HasSubstr("\n")));
      return error.what();
    }
    return {};
  }

  TemporaryFolder folder;
  const std::string in = folder / "in.mkv";
};

TEST_F(Options, UnknownValuesAreNamed) {
  EXPECT_THAT(refusal("o.mkv", {.vcodec = "libnothing"}), HasSubstr("libnothing"));
  EXPECT_THAT(refusal("o.mkv", {.vcodec = "aac"}), HasSubstr("aac"));
  EXPECT_THAT(refusal("o.mkv", {.vopts = {{"colour", "5"}}}), HasSubstr("colour"));
  EXPECT_THAT(refusal("o.mkv", {.vopts = {{"preset", "warp"}}}), HasSubstr("libx264"));
  EXPECT_THAT(refusal("o.mkv", {.vopts = {{"x264-params", "nosuch=1"}}}), HasSubstr("nosuch"));
  EXPECT_THAT(refusal("o.mkv", {.vcodec = "libx265", .vopts = {{"x265-params", "nosuch=1"}}}),
              HasSubstr("nosuch"));
  EXPECT_THAT(refusal("o.mkv", {.pix_fmt = "yuv421"}), HasSubstr("yuv421"));
  EXPECT_THAT(refusal("o.mkv", {.pix_fmt = "gbrpf32le"}), HasSubstr("gbrpf32le"));
  EXPECT_THAT(refusal("o.xyz", {}), HasSubstr("o.xyz"));
  EXPECT_THAT(refusal("o", {}), HasSubstr(".mkv"));
  EXPECT_THAT(refusal("o.mp3", {}), HasSubstr("o.mp3"));
  EXPECT_THAT(refusal("o.srt", {}), HasSubstr("o.srt"));
}

TEST_F(Options, IncompatibleOptionsAreNamed) {
  EXPECT_THAT(refusal("o.mkv", {.vcodec = "ffv1", .crf = 20}), HasSubstr("ffv1"));
  EXPECT_THAT(refusal("o.mkv", {.crf = 20, .lossless = true}), HasSubstr("crf"));
  EXPECT_THAT(refusal("o.mkv", {.vcodec = "mpeg4", .lossless = true}), HasSubstr("mpeg4"));
  EXPECT_THAT(refusal("o.webm", {.lossless = true}), HasSubstr(".mkv"));
  EXPECT_THAT(refusal("o.mp4", {.lossless = true}), HasSubstr(".mkv"));
  EXPECT_THAT(refusal("o.webm", {.vcodec = "libx264"}), HasSubstr("libx264"));
  EXPECT_THAT(refusal("o.png", {}), HasSubstr("several frames"));
  EXPECT_THAT(refusal("o.mkv", {.vcodec = "libx264", .pix_fmt = "yuva420p"}), HasSubstr("yuv444p"));
  EXPECT_THAT(refusal("o.mkv", {.crf = 1000}), HasSubstr("crf"));
}

TEST_F(Options, UnsuitablePictureFormatsAreNamed) {
  ClipSpec spec;
  spec.encoder = "png";
  spec.muxer = "image2pipe";
  spec.frames = 1;
  spec.format = AV_PIX_FMT_RGB24;
  make_clip(in, spec);
  EXPECT_THAT(refusal("o.pgm", {}), HasSubstr(".ppm"));
  EXPECT_THAT(refusal("o.exr", {}), HasSubstr("rgb24"));
  EXPECT_EQ(refusal("o.jpg", {}), "");
  spec.format = AV_PIX_FMT_GRAY16BE;
  make_clip(in, spec);
  EXPECT_EQ(refusal("o.ppm", {}), "");
  EXPECT_EQ(refusal("o.tif", {}), "");
}

TEST_F(Options, ReachTheEncoderAndTheMuxer) {
  EXPECT_EQ(refusal("a.mkv", {.crf = 51}), "");
  transcode(in, folder / "good.mkv", {.crf = 1});
  transcode(in, folder / "bad.mkv", {.crf = 50});
  EXPECT_GT(std::filesystem::file_size(folder / "good.mkv"),
            2 * std::filesystem::file_size(folder / "bad.mkv"));
  transcode(in, folder / "fast.mp4",
            {.vopts = {{"preset", "ultrafast"}, {"movflags", "faststart"}}});
  EXPECT_EQ(count_frames(folder / "fast.mp4"), 10);
  transcode(in, folder / "hevc.mkv",
            {.vcodec = "libx265", .vopts = {{"x265-params", "bframes=0"}}});
  EXPECT_EQ(decode(folder / "hevc.mkv").pictures.size(), 10u);
}

TEST_F(Options, EncodersPrintNothing) {
  testing::internal::CaptureStderr();
  transcode(in, folder / "a.mkv", {.vcodec = "libx265"});
  transcode(in, folder / "b.mkv", {.vcodec = "libx264"});
  if (has_encoder("libvpx-vp9")) transcode(in, folder / "c.mkv", {.vcodec = "libvpx-vp9"});
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace lull::io::test
