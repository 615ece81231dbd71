// Tests samples, sizes and bit depths after writing to a file and reading the file again.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "io/ffmpeg/pixel_formats.h"
#include "io/support/clip.h"

namespace lull::io::test {
namespace {

// Decodes both files and unpacks them to planes, so that the pixel formats may differ.
void expect_equal_frames(const std::string& a, const std::string& b) {
  const auto x = open_source(a), y = open_source(b);
  ASSERT_EQ(x->format(), y->format());
  for (int n = 0;; ++n) {
    const auto f = x->read(), g = y->read();
    ASSERT_EQ(f.has_value(), g.has_value()) << "frame " << n;
    if (!f) return;
    for (int i = 0; i < f->format.planes(); ++i)
      for (int row = 0; row < f->planes[i].height; ++row)
        ASSERT_EQ(std::string_view(reinterpret_cast<const char*>(f->planes[i].row(row)),
                                   f->planes[i].width),
                  std::string_view(reinterpret_cast<const char*>(g->planes[i].row(row)),
                                   g->planes[i].width))
            << "frame " << n << " plane " << i << " row " << row;
  }
}

TEST(RoundTrip, LosslessVideoKeepsEverySampleOfEveryFormat) {
  const TemporaryFolder folder;
  const AVCodec* ffv1 = avcodec_find_encoder_by_name("ffv1");
  ASSERT_TRUE(ffv1);
  int tried = 0;
  for (const AVPixelFormat* f = ffv1->pix_fmts; *f != AV_PIX_FMT_NONE; ++f) {
    SCOPED_TRACE(name_of(*f));
    ClipSpec spec;
    spec.format = *f;
    spec.width = 37;
    spec.height = 23;
    spec.frames = 2;
    make_clip(folder / "in.mkv", spec);
    ASSERT_EQ(
        transcode(folder / "in.mkv", folder / "out.mkv", {.lossless = true, .overwrite = true}), 2);
    const Decoded a = decode(folder / "in.mkv"), b = decode(folder / "out.mkv");
    ASSERT_EQ(a.format, b.format);
    for (int i = 0; i < 2; ++i) ASSERT_EQ(a.pictures[i].bytes, b.pictures[i].bytes) << i;
    ++tried;
  }
  EXPECT_GT(tried, 40);
}

// FFV1 divides pictures into slices, including their chroma planes.
TEST(RoundTrip, LosslessVideoKeepsManySizes) {
  const TemporaryFolder folder;
  for (const AVPixelFormat format : {AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV411P, AV_PIX_FMT_YUV440P,
                                     AV_PIX_FMT_YUV422P10, AV_PIX_FMT_GBRP10})
    for (const auto& [width, height] : {std::pair{16, 16},
                                        {17, 16},
                                        {16, 17},
                                        {19, 23},
                                        {29, 31},
                                        {43, 21},
                                        {15, 64},
                                        {64, 15}}) {
      SCOPED_TRACE(std::string(name_of(format)) + " " + std::to_string(width) + "x" +
                   std::to_string(height));
      ClipSpec spec;
      spec.encoder = "rawvideo";
      if (format == AV_PIX_FMT_GBRP10 || format == AV_PIX_FMT_YUV440P) spec.encoder = "ffv1";
      if (spec.encoder == "ffv1") spec.encoder_options = {{"level", "1"}};
      spec.format = format;
      spec.width = width;
      spec.height = height;
      spec.frames = 2;
      make_clip(folder / "in.nut", spec);
      transcode(folder / "in.nut", folder / "out.mkv", {.lossless = true, .overwrite = true});
      expect_equal_frames(folder / "in.nut", folder / "out.mkv");
    }
}

struct Still {
  const char* name;
  const char* encoder;
  std::vector<AVPixelFormat> formats;
};

const std::vector<Still>& stills() {
  static const std::vector<Still> all = {
      {"a.png",
       "png",
       {AV_PIX_FMT_GRAY8, AV_PIX_FMT_GRAY16BE, AV_PIX_FMT_YA8, AV_PIX_FMT_YA16BE, AV_PIX_FMT_RGB24,
        AV_PIX_FMT_RGBA, AV_PIX_FMT_RGB48BE, AV_PIX_FMT_RGBA64BE}},
      {"a.tiff",
       "tiff",
       {AV_PIX_FMT_GRAY8, AV_PIX_FMT_GRAY16LE, AV_PIX_FMT_YA8, AV_PIX_FMT_RGB24, AV_PIX_FMT_RGBA,
        AV_PIX_FMT_RGB48LE, AV_PIX_FMT_RGBA64LE}},
      {"a.pgm", "pgm", {AV_PIX_FMT_GRAY8, AV_PIX_FMT_GRAY16BE}},
      {"a.ppm", "ppm", {AV_PIX_FMT_RGB24, AV_PIX_FMT_RGB48BE}},
      {"a.pam",
       "pam",
       {AV_PIX_FMT_GRAY8, AV_PIX_FMT_GRAY16BE, AV_PIX_FMT_RGBA, AV_PIX_FMT_RGB48BE}},
      {"a.bmp", "bmp", {AV_PIX_FMT_BGR24, AV_PIX_FMT_BGRA}}};
  return all;
}

TEST(RoundTrip, StillsKeepFormatDepthAndSamples) {
  const TemporaryFolder folder;
  for (const Still& still : stills())
    for (const AVPixelFormat format : still.formats)
      for (const auto& [width, height] : {std::pair{1, 1}, {7, 5}, {64, 1}, {1, 19}, {101, 67}}) {
        SCOPED_TRACE(std::string(still.name) + " " + name_of(format) + " " + std::to_string(width) +
                     "x" + std::to_string(height));
        ClipSpec spec;
        spec.format = format;
        spec.width = width;
        spec.height = height;
        spec.frames = 1;
        spec.encoder = still.encoder;
        spec.muxer = "image2pipe";
        make_clip(folder / still.name, spec);
        const std::string out = folder / ("out-" + std::string(still.name));
        {
          const auto source = open_source(folder / still.name);
          ASSERT_TRUE(source->info().still);
          ASSERT_EQ(source->info().frames_estimate, 1);
        }
        ASSERT_EQ(transcode(folder / still.name, out, {.overwrite = true}), 1);
        const Decoded a = decode(folder / still.name), b = decode(out);
        ASSERT_EQ(name_of(a.format), name_of(b.format));
        ASSERT_EQ(b.width, width);
        ASSERT_EQ(b.height, height);
        ASSERT_EQ(a.pictures.at(0).bytes, b.pictures.at(0).bytes);
      }
}

TEST(RoundTrip, StillsOfOtherTypesKeepSamples) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.frames = 1;
  spec.encoder = "png";
  spec.muxer = "image2pipe";
  spec.format = AV_PIX_FMT_RGB48BE;
  make_clip(folder / "a.png", spec);
  for (const char* name : {"b.tif", "b.ppm", "b.pnm", "b.mkv"}) {
    transcode(folder / "a.png", folder / name, {.lossless = true});
    expect_equal_frames(folder / "a.png", folder / name);
  }
  spec.format = AV_PIX_FMT_GRAY8;
  make_clip(folder / "g.png", spec);
  for (const char* name : {"g.tif", "g.pgm", "g.pnm", "g.mkv"}) {
    transcode(folder / "g.png", folder / name, {.lossless = true});
    expect_equal_frames(folder / "g.png", folder / name);
  }
}

TEST(RoundTrip, Y4mKeepsSamplesRateAndOddSizes) {
  const TemporaryFolder folder;
  for (const AVPixelFormat format :
       {AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV422P, AV_PIX_FMT_YUV444P, AV_PIX_FMT_GRAY8,
        AV_PIX_FMT_YUV420P10, AV_PIX_FMT_YUV444P16, AV_PIX_FMT_GRAY16})
    for (const auto& [width, height] : {std::pair{1, 1}, {5, 3}, {64, 48}}) {
      SCOPED_TRACE(name_of(format));
      ClipSpec spec;
      spec.format = format;
      spec.width = width;
      spec.height = height;
      spec.frames = 3;
      spec.time_base = {1001, 30000};
      spec.frame_rate = {30000, 1001};
      make_clip(folder / "in.mkv", spec);
      transcode(folder / "in.mkv", folder / "out.y4m", {.overwrite = true});
      expect_equal_frames(folder / "in.mkv", folder / "out.y4m");
      const auto source = open_source(folder / "out.y4m");
      EXPECT_EQ(source->info().frame_rate, (Rational{30000, 1001}));
    }
}

struct LossyDefault {
  AVPixelFormat in;
  const char *name, *encoder, *format;
};

class LossyDefaults : public ::testing::TestWithParam<LossyDefault> {};

TEST_P(LossyDefaults, KeepThePixelFormat) {
  const auto& [in, name, encoder, format] = GetParam();
  if (!has_encoder(encoder)) GTEST_SKIP() << "no encoder " << encoder;
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.format = in;
  make_clip(folder / "in.mkv", spec);
  const auto source = open_source(folder / "in.mkv");
  const auto sink = open_sink(folder / name, *source, {.overwrite = true});
  EXPECT_EQ(sink->encoder(), encoder);
  EXPECT_EQ(sink->pixel_format(), format);
  while (auto frame = source->read()) sink->write(*std::move(frame));
  sink->finish();
  const Decoded out = decode(folder / name);
  EXPECT_EQ(out.pictures.size(), 10u);
  EXPECT_EQ(traits_of(out.format)->format, traits_of(in)->format);
}

INSTANTIATE_TEST_SUITE_P(
    RoundTrip, LossyDefaults,
    ::testing::Values(LossyDefault{AV_PIX_FMT_YUV420P, "o.mkv", "libx264", "yuv420p"},
                      LossyDefault{AV_PIX_FMT_YUV444P, "o.mp4", "libx264", "yuv444p"},
                      LossyDefault{AV_PIX_FMT_GRAY8, "o.mp4", "libx265", "gray"},
                      LossyDefault{AV_PIX_FMT_BGR0, "o.mp4", "libx264rgb", "bgr0"},
                      LossyDefault{AV_PIX_FMT_YUV420P10, "o.mp4", "libx265", "yuv420p10le"},
                      LossyDefault{AV_PIX_FMT_YUV422P12, "o.mkv", "libx265", "yuv422p12le"},
                      LossyDefault{AV_PIX_FMT_GBRP10, "o.mkv", "libx265", "gbrp10le"},
                      LossyDefault{AV_PIX_FMT_GRAY16, "o.mkv", "ffv1", "gray16le"},
                      LossyDefault{AV_PIX_FMT_YUVA420P, "o.mkv", "ffv1", "yuva420p"},
                      LossyDefault{AV_PIX_FMT_YUV420P, "o.webm", "libvpx-vp9", "yuv420p"}),
    [](const auto& tested) {
      std::string name = std::string(tested.param.format) + "_in_" + tested.param.name;
      std::ranges::replace(name, '.', '_');
      return name;
    });

TEST(RoundTrip, DefaultsKeepEverySize) {
  if (!has_encoder("libvpx-vp9"))
    GTEST_SKIP() << "this FFmpeg lacks libvpx-vp9, which odd sizes of 4:2:0 need";
  const TemporaryFolder folder;
  for (const AVPixelFormat format : {AV_PIX_FMT_GRAY8, AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV444P,
                                     AV_PIX_FMT_GBRP10, AV_PIX_FMT_YUV422P10})
    for (const auto& [width, height] : {std::pair{1, 1}, {5, 7}, {33, 17}, {34, 18}, {67, 65}}) {
      SCOPED_TRACE(std::string(name_of(format)) + " " + std::to_string(width) + "x" +
                   std::to_string(height));
      ClipSpec spec;
      spec.encoder_options = {{"level", "1"}};
      spec.format = format;
      spec.width = width;
      spec.height = height;
      spec.frames = 3;
      make_clip(folder / "in.mkv", spec);
      for (const char* name : {"out.mkv", "out.mp4"}) {
        ASSERT_EQ(transcode(folder / "in.mkv", folder / name, {.overwrite = true}), 3) << name;
        const Decoded out = decode(folder / name);
        ASSERT_EQ(out.pictures.size(), 3u);
        ASSERT_EQ(out.width, width);
        ASSERT_EQ(out.height, height);
      }
    }
}

class LosslessEncoders : public ::testing::TestWithParam<const char*> {};

TEST_P(LosslessEncoders, KeepEverySample) {
  if (!has_encoder(GetParam())) GTEST_SKIP() << "no encoder " << GetParam();
  const TemporaryFolder folder;
  make_clip(folder / "in.mkv", {});
  transcode(folder / "in.mkv", folder / "out.mkv",
            {.vcodec = GetParam(), .lossless = true, .overwrite = true});
  expect_equal_frames(folder / "in.mkv", folder / "out.mkv");
}

INSTANTIATE_TEST_SUITE_P(RoundTrip, LosslessEncoders,
                         ::testing::Values("libx264", "libx265", "libvpx-vp9", "ffv1"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(RoundTrip, LosslessKeepsTinyVideo) {
  const TemporaryFolder folder;
  for (const auto& [width, height] : {std::pair{1, 1}, {1, 2}, {3, 1}, {2, 2}, {5, 7}}) {
    SCOPED_TRACE(std::to_string(width) + "x" + std::to_string(height));
    ClipSpec spec;
    spec.format = AV_PIX_FMT_YUV444P;
    spec.width = width;
    spec.height = height;
    spec.frames = 3;
    make_clip(folder / "in.mkv", spec);
    transcode(folder / "in.mkv", folder / "out.mkv", {.lossless = true, .overwrite = true});
    expect_equal_frames(folder / "in.mkv", folder / "out.mkv");
  }
}

TEST(RoundTrip, RequestedPixelFormatIsConvertedWithMatrixAndRange) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.encoder = "png";
  spec.muxer = "image2pipe";
  spec.format = AV_PIX_FMT_RGB24;
  spec.frames = 1;
  make_clip(folder / "in.png", spec);
  transcode(folder / "in.png", folder / "yuv.mkv", {.vcodec = "ffv1", .pix_fmt = "yuv444p"});
  const Decoded yuv = decode(folder / "yuv.mkv"), rgb = decode(folder / "in.png");
  ASSERT_EQ(yuv.format, AV_PIX_FMT_YUV444P);
  EXPECT_EQ(yuv.first->colorspace, AVCOL_SPC_SMPTE170M);
  EXPECT_EQ(yuv.first->color_range, AVCOL_RANGE_MPEG);
  const std::size_t count = 64 * 48;
  for (std::size_t i = 0; i < count; ++i) {
    // ITU-R BT.601-7, 2.5: luma of 8-bit R'G'B'. swscale computes with 15-bit coefficients.
    const std::uint8_t* p = &rgb.pictures[0].bytes[3 * i];
    const double y = 16 + 219.0 / 255 * (0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2]);
    ASSERT_NEAR(yuv.pictures[0].bytes[i], y, 1.0) << i;
  }
}

TEST(RoundTrip, EqualInputGivesEqualFiles) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.audio = "flac";
  make_clip(folder / "in.mkv", spec);
  for (const std::string name : {"mkv", "mp4"}) {
    transcode(folder / "in.mkv", folder / ("a." + name));
    transcode(folder / "in.mkv", folder / ("b." + name));
    EXPECT_EQ(read_file(folder / ("a." + name)), read_file(folder / ("b." + name))) << name;
  }
}

}  // namespace
}  // namespace lull::io::test
