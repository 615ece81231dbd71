// Tests which samples sessions deliver for an output, and that the encoder packs them unchanged.

#include "io/encode/sample_depth.h"

#include <gtest/gtest.h>

#include <string>

#include "core/frame_pool.h"
#include "core/samples.h"
#include "io/support/clip.h"
#include "io/support/side_data.h"
#include "support/pictures.h"

namespace lull::io {
namespace {

using test::ClipSpec;
using test::make_clip;
using test::TemporaryFolder;

TEST(FormatWithBits, HasTheSameLayout) {
  const auto with = [](AVPixelFormat format, int bits) {
    return format_with_bits(*traits_of(format), bits);
  };
  EXPECT_EQ(with(AV_PIX_FMT_YUV420P, 10), AV_PIX_FMT_YUV420P10LE);
  EXPECT_EQ(with(AV_PIX_FMT_YUVJ422P, 16), AV_PIX_FMT_YUV422P16LE);
  EXPECT_EQ(with(AV_PIX_FMT_YUV444P12LE, 8), AV_PIX_FMT_YUV444P);
  EXPECT_EQ(with(AV_PIX_FMT_YUVA420P, 16), AV_PIX_FMT_YUVA420P16LE);
  EXPECT_EQ(with(AV_PIX_FMT_NV12, 10), AV_PIX_FMT_YUV420P10LE);
  EXPECT_EQ(with(AV_PIX_FMT_RGB24, 16), AV_PIX_FMT_GBRP16LE);
  EXPECT_EQ(with(AV_PIX_FMT_RGBA, 16), AV_PIX_FMT_GBRAP16LE);
  EXPECT_EQ(with(AV_PIX_FMT_GRAY8, 16), AV_PIX_FMT_GRAY16LE);
  EXPECT_EQ(with(AV_PIX_FMT_GRAY16BE, 8), AV_PIX_FMT_GRAY8);
  EXPECT_EQ(with(AV_PIX_FMT_GBRPF32LE, 16), AV_PIX_FMT_GBRP16LE);
  EXPECT_EQ(with(AV_PIX_FMT_YUV420P, 11), AV_PIX_FMT_NONE);
  EXPECT_EQ(with(AV_PIX_FMT_YUV411P, 10), AV_PIX_FMT_NONE);
}

struct Output {
  AVPixelFormat input;
  const char* name;
  SinkOptions options;
  ResultSamples samples;
};

class SampleDepth : public ::testing::Test {
 protected:
  std::unique_ptr<MediaSource> source_of(AVPixelFormat format, AVColorRange range) {
    ClipSpec spec;
    spec.format = format;
    spec.frames = 2;
    if (format == AV_PIX_FMT_RGB24) spec.encoder = "png";  // FFV1 has no RGB of 8 bits
    spec.set_up = [range](AVCodecContext& c) { c.color_range = range; };
    make_clip(folder_ / "in.mkv", spec);
    return open_source(folder_ / "in.mkv");
  }
  TemporaryFolder folder_;
};

TEST_F(SampleDepth, SessionsDeliverTheSamplesOfTheOutput) {
  const auto with = [](int bits, const char* codec, const char* pix_fmt = "") {
    SinkOptions options;
    options.bits = bits;
    options.vcodec = codec;
    options.pix_fmt = pix_fmt;
    options.dither = Dither::ordered;
    return options;
  };
  constexpr Dither dither = Dither::ordered;
  const Output outputs[] = {
      {AV_PIX_FMT_YUV420P, "out.mkv", with(0, "ffv1"), {.dither = dither}},
      {AV_PIX_FMT_YUV420P, "out.mkv", with(10, "ffv1"), {.bits = 10, .dither = dither}},
      {AV_PIX_FMT_YUV420P10LE, "out.mkv", with(8, "ffv1"), {.bits = 8, .dither = dither}},
      {AV_PIX_FMT_YUV420P,
       "out.mkv",
       with(0, "ffv1", "yuv420p16le"),
       {.bits = 16, .dither = dither}},
      {AV_PIX_FMT_YUV420P, "out.y4m", with(12, ""), {.bits = 12, .dither = dither}},
      // Other layouts are converted with 16 bits.
      {AV_PIX_FMT_YUV420P, "out.%d.png", with(0, ""), {.bits = 16}},
      {AV_PIX_FMT_YUV420P, "out.mkv", with(0, "ffv1", "yuv444p10le"), {.bits = 16}},
      {AV_PIX_FMT_YUV411P, "out.mkv", with(0, "ffv1", "yuv444p"), {}},
      // Grey and RGB have the full range.
      {AV_PIX_FMT_GRAY8,
       "out.%d.png",
       with(16, ""),
       {.bits = 16, .full_range = true, .dither = dither}},
      {AV_PIX_FMT_RGB24,
       "out.%d.tif",
       with(16, ""),
       {.bits = 16, .full_range = true, .dither = dither}},
      {AV_PIX_FMT_YUV420P, "null", with(10, ""), {.bits = 10, .dither = dither}},
      {AV_PIX_FMT_YUV420P, "hash", with(0, ""), {.dither = dither}},
      // open_sink() rejects these outputs.
      {AV_PIX_FMT_YUV420P, "out.mkv", with(11, "ffv1"), {}},
      {AV_PIX_FMT_YUV420P, "out.txt", with(10, ""), {}},
  };
  for (const Output& output : outputs) {
    const auto source = source_of(output.input, AVCOL_RANGE_UNSPECIFIED);
    const ResultSamples samples = result_samples(folder_ / output.name, *source, output.options);
    const std::string name = std::string(output.name) + " from " + name_of(output.input) + ", " +
                             output.options.pix_fmt + std::to_string(output.options.bits);
    const bool special = std::string(output.name) == "null" || std::string(output.name) == "hash";
    const ResultSamples found =
        special ? result_samples(output.name, *source, output.options) : samples;
    EXPECT_EQ(found.bits, output.samples.bits) << name;
    EXPECT_EQ(found.dither, output.samples.dither) << name;
    EXPECT_EQ(found.full_range, output.samples.full_range) << name;
  }
}

TEST_F(SampleDepth, FullRangeOfVideoIsKnown) {
  for (const AVColorRange range : {AVCOL_RANGE_UNSPECIFIED, AVCOL_RANGE_MPEG, AVCOL_RANGE_JPEG}) {
    const auto source = source_of(AV_PIX_FMT_YUV420P, range);
    SinkOptions options;
    options.bits = 10;
    options.vcodec = "ffv1";
    EXPECT_EQ(result_samples(folder_ / "out.mkv", *source, options).full_range,
              range == AVCOL_RANGE_JPEG);
  }
}

/// Writes all frames of in.mkv as sessions would, and returns the decoded result.
std::vector<Frame> rewritten(MediaSource& source, const std::string& path, SinkOptions options) {
  options.samples = result_samples(path, source, options);
  options.overwrite = true;
  const auto sink = open_sink(path, source, options);
  while (auto frame = source.read()) {
    FramePool pool(result_format(frame->format, options.samples));
    sink->write(unfiltered(*std::move(frame), pool));
  }
  sink->finish();
  std::vector<Frame> frames;
  const auto result = open_source(path);
  while (auto frame = result->read()) frames.push_back(*std::move(frame));
  return frames;
}

TEST_F(SampleDepth, SamplesReachTheFileUnchanged) {
  for (const AVPixelFormat format :
       {AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUVA420P, AV_PIX_FMT_GRAY8, AV_PIX_FMT_RGB24})
    for (const int bits : {10, 12, 16}) {
      const auto source = source_of(format, AVCOL_RANGE_UNSPECIFIED);
      std::vector<Frame> in;
      {
        const auto again = open_source(folder_ / "in.mkv");
        while (auto frame = again->read()) in.push_back(*std::move(frame));
      }
      SinkOptions options;
      options.bits = bits;
      options.vcodec = "ffv1";
      // FFV1 has no alpha of 12 bits in every release of FFmpeg.
      if (format == AV_PIX_FMT_YUVA420P && bits == 12) continue;
      const std::vector<Frame> out = rewritten(*source, folder_ / "out.mkv", options);
      ASSERT_EQ(out.size(), in.size());
      const bool full = format == AV_PIX_FMT_GRAY8 || format == AV_PIX_FMT_RGB24;
      const ResultSamples samples{.bits = bits, .full_range = full};
      for (std::size_t n = 0; n < in.size(); ++n) {
        FramePool pool(result_format(in[n].format, samples));
        EXPECT_EQ(out[n].format.bits, bits);
        EXPECT_TRUE(test_support::same_samples(out[n], copied(in[n], pool)))
            << name_of(format) << " " << bits;
        const Frame &alpha = out[n].side_data->alpha, &from = in[n].side_data->alpha;
        ASSERT_EQ(!alpha.pixels, !from.pixels);
        if (!alpha.pixels) continue;
        FramePool alpha_pool(result_format(from.format, {.bits = bits, .full_range = true}));
        EXPECT_TRUE(test_support::same_samples(alpha, copied(from, alpha_pool)));
      }
    }
}

TEST_F(SampleDepth, FramesOfTheSourceAreConvertedByTheSink) {
  // A caller that does not ask result_samples() writes the source's samples.
  const auto source = source_of(AV_PIX_FMT_YUV420P, AVCOL_RANGE_UNSPECIFIED);
  SinkOptions options;
  options.bits = 10;
  options.vcodec = "ffv1";
  const auto sink = open_sink(folder_ / "out.mkv", *source, options);
  std::vector<Frame> in;
  while (auto frame = source->read()) {
    in.push_back(*frame);
    sink->write(*std::move(frame));
  }
  sink->finish();
  const auto result = open_source(folder_ / "out.mkv");
  FramePool pool(result_format(in[0].format, {.bits = 10}));
  EXPECT_TRUE(test_support::same_samples(*result->read(), copied(in[0], pool)));
}

}  // namespace
}  // namespace lull::io
