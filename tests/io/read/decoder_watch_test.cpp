// Tests damage that decoders only log, and the memory into which they decode.

#include "io/read/decoder_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "io/support/clip.h"

namespace lull::io::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr int frames = 24;

struct Codec {
  std::string name;
  AVPixelFormat format;
  std::vector<std::pair<std::string, std::string>> options;
};
std::ostream& operator<<(std::ostream& out, const Codec& codec) { return out << codec.name; }

class LoggedDamage : public testing::TestWithParam<Codec> {};

TEST_P(LoggedDamage, CountsEachDamagedFrameOnceForAnyNumberOfThreads) {
  const Codec& codec = GetParam();
  if (!has_encoder(codec.name.c_str())) GTEST_SKIP() << "this FFmpeg lacks the encoder";
  const TemporaryFolder folder;
  const std::string path = folder / "a.mov";
  ClipSpec spec;
  spec.width = 128;
  spec.height = 96;
  spec.frames = frames;
  spec.encoder = codec.name;
  spec.format = codec.format;
  spec.encoder_options = codec.options;
  make_clip(path, spec);
  Bytes bytes = read_file(path);
  // All frames have about the same size, and the file contains little else.
  const std::set<std::size_t> damaged = {2, 3, 9, 17};
  for (const std::size_t frame : damaged) {
    const std::size_t at = bytes.size() * (2 * frame + 1) / (2 * frames);
    for (std::size_t i = at; i < at + 8; ++i) bytes[i] ^= 0x5a;
  }
  write_file(path, bytes);
  for (const int threads : {1, 2, 5}) {
    const auto source = open_source(path, {.threads = threads, .tolerate_damage = true});
    while (source->read()) continue;
    EXPECT_EQ(source->damage().frames, static_cast<std::int64_t>(damaged.size()))
        << threads << " threads: " << source->damage().first;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Codecs, LoggedDamage,
    testing::Values(Codec{"ffv1", AV_PIX_FMT_YUV420P, {{"level", "3"}, {"slicecrc", "1"}}},
                    Codec{"png", AV_PIX_FMT_RGB24, {}}),
    [](const auto& info) { return info.param.name; });

TEST(DecoderMemory, IsZeroForEachPicture) {
  const LogTopic topic;
  DecoderWatch watch(topic);
  const CodecPtr decoder(avcodec_alloc_context3(avcodec_find_decoder(AV_CODEC_ID_RAWVIDEO)));
  decoder->width = 50;
  decoder->height = 30;
  decoder->pix_fmt = AV_PIX_FMT_GRAY8;
  watch.attach_with_buffers(*decoder);
  ASSERT_EQ(avcodec_open2(decoder.get(), nullptr, nullptr), 0);
  for (int i = 0; i < 3; ++i) {
    const FramePtr picture = make_frame();
    picture->width = decoder->width;
    picture->height = decoder->height;
    picture->format = decoder->pix_fmt;
    ASSERT_EQ(decoder->get_buffer2(decoder.get(), picture.get(), 0), 0);
    for (int y = 0; y < picture->height; ++y) {
      std::uint8_t* row = picture->data[0] + y * picture->linesize[0];
      EXPECT_TRUE(std::all_of(row, row + picture->width, [](std::uint8_t v) { return v == 0; }));
      std::fill_n(row, picture->width, std::uint8_t{0xaa});  // the next picture gets this memory
    }
  }
}

TEST(CanHold, ComparesPicturesWithTheSizeOfTheirPackets) {
  struct Case {
    AVCodecID codec;
    AVPixelFormat format;
    int width, height;
    std::int64_t min_bytes;
  };
  for (const Case& c : {Case{AV_CODEC_ID_PNG, AV_PIX_FMT_RGB24, 1032, 100, 300},
                        Case{AV_CODEC_ID_PNG, AV_PIX_FMT_GRAY8, 8256, 100, 100},
                        Case{AV_CODEC_ID_PGM, AV_PIX_FMT_GRAY8, 100, 100, 10000},
                        Case{AV_CODEC_ID_PPM, AV_PIX_FMT_RGB48, 100, 100, 60000},
                        Case{AV_CODEC_ID_PBM, AV_PIX_FMT_MONOWHITE, 80, 100, 1000},
                        Case{AV_CODEC_ID_BMP, AV_PIX_FMT_BGR24, 100, 100, 30000},
                        Case{AV_CODEC_ID_MJPEG, AV_PIX_FMT_YUVJ420P, 512, 100, 100},
                        Case{AV_CODEC_ID_QOI, AV_PIX_FMT_RGBA, 62, 100, 100},
                        Case{AV_CODEC_ID_SGI, AV_PIX_FMT_RGB24, 1000, 100, 800},
                        Case{AV_CODEC_ID_SGI, AV_PIX_FMT_GRAY8, 3, 100, 300}}) {
    EXPECT_TRUE(can_hold(c.codec, c.format, c.width, c.height, c.min_bytes)) << c.codec;
    EXPECT_FALSE(can_hold(c.codec, c.format, c.width, c.height, c.min_bytes - 1)) << c.codec;
  }
}

TEST(CanHold, AcceptsAnySizeForCodecsWithoutABound) {
  EXPECT_TRUE(can_hold(AV_CODEC_ID_WEBP, AV_PIX_FMT_ARGB, 16000, 16000, 40));
  EXPECT_TRUE(can_hold(AV_CODEC_ID_JPEG2000, AV_PIX_FMT_RGB24, 16000, 16000, 100));
  EXPECT_TRUE(can_hold(AV_CODEC_ID_BMP, AV_PIX_FMT_PAL8, 16000, 16000, 2000));
}

}  // namespace
}  // namespace lull::io::test
