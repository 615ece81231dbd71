// Tests the tables of containers and encoders: they contain everything that lull chooses by
// default, and they agree with FFmpeg. No code decides by names instead of the tables.

#include "io/encode/traits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "io/encode/encoder.h"
#include "io/encode/encoder_options.h"
#include "io/ffmpeg/ffmpeg_log.h"
#include "io/support/clip.h"
#include "io/write/losses.h"
#include "io/write/stream_handling.h"

namespace lull::io::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

bool is_in_table(const AVCodec& encoder) {
  return std::ranges::any_of(encoder_table(), [&](const EncoderTraits& row) {
    return row.name == encoder.name || (row.name.empty() && row.codec == encoder.id);
  });
}

TEST(Traits, NamesAreKnownToFfmpegAndUnique) {
  std::set<std::string_view> containers, encoders;
  for (const ContainerTraits& row : container_table()) {
    EXPECT_TRUE(containers.insert(row.name).second) << row.name;
    EXPECT_TRUE(av_guess_format(std::string(row.name).c_str(), nullptr, nullptr)) << row.name;
    EXPECT_EQ(&container_traits(row.name), &row);
  }
  for (const EncoderTraits& row : encoder_table()) {
    if (row.name.empty()) continue;
    EXPECT_TRUE(encoders.insert(row.name).second) << row.name;
    const AVCodec* codec = avcodec_find_encoder_by_name(std::string(row.name).c_str());
    if (!codec) continue;  // the encoder is not in this build of FFmpeg
    EXPECT_EQ(codec->id, row.codec) << row.name;
    EXPECT_EQ(encoder_traits(*codec).name, row.name);
  }
  EXPECT_EQ(container_traits("no such muxer").name, "");
}

// Every container of the table is combined with every type of picture, for all sample formats.
TEST(Traits, CoverEveryDefaultChoice) {
  capture_ffmpeg_log();
  const TemporaryFolder folder;
  std::vector<std::string> formats = {"y4m", "raw", "png", "exr", "tif", "pgm",
                                      "ppm", "pnm", "pam", "bmp", "jpg"};
  for (const ContainerTraits& row : container_table()) formats.emplace_back(row.name);
  int choices = 0;
  for (const AVPixelFormat pixels : {AV_PIX_FMT_GRAY8, AV_PIX_FMT_GRAY16, AV_PIX_FMT_YUV420P,
                                     AV_PIX_FMT_YUV444P10, AV_PIX_FMT_RGB24, AV_PIX_FMT_RGBA64BE}) {
    ClipSpec spec;
    const bool rgb = pixels == AV_PIX_FMT_RGB24 || pixels == AV_PIX_FMT_RGBA64BE;
    spec.encoder = rgb ? "png" : "ffv1";
    spec.format = pixels;
    spec.frames = 2;
    make_clip(folder / "in.mkv", spec);
    FileSource source(folder / "in.mkv", {});
    for (const std::string& format : formats) {
      for (const std::string& path : {"out." + format, std::string("-")}) {
        SCOPED_TRACE(format + " " + path + " " + name_of(pixels));
        try {
          const Container container = container_of(path, source, {.format = format});
          EXPECT_EQ(container.traits, &container_traits(container.format->name));
          for (const EncoderChoice& choice : choose_encoders(container, source, {})) {
            EXPECT_TRUE(is_in_table(*choice.codec)) << choice.codec->name;
            ++choices;
          }
        } catch (const InvalidArgument&) {
          // This exception means that the container cannot store such samples.
        }
      }
    }
  }
  EXPECT_GT(choices, 100);
}

TEST(Traits, ThreadsAreLimitedByEncoderAndCores) {
  const EncoderTraits few{.name = "few", .max_threads = 3};
  EXPECT_EQ(threads_of(few, 0, 64), 3);
  EXPECT_EQ(threads_of(few, 0, 2), 2);
  EXPECT_EQ(threads_of(few, 2, 64), 2);
  EXPECT_EQ(threads_of(few, 64, 1), 3);
  EXPECT_EQ(threads_of(few, 0, 0), 1);
}

// Every video encoder opens with the thread count for 64 cores.
TEST(Traits, EveryEncoderOpensWithTheThreadsOf64Cores) {
  capture_ffmpeg_log();
  const TemporaryFolder folder;
  make_clip(folder / "in.mkv", {.frames = 2});
  FileSource source(folder / "in.mkv", {});
  const Container container = container_of("out.mkv", source, {});
  int opened = 0;
  for (const EncoderTraits& row : encoder_table()) {
    const AVCodec* codec = row.name.empty()
                               ? avcodec_find_encoder(row.codec)
                               : avcodec_find_encoder_by_name(std::string(row.name).c_str());
    constexpr AVPixelFormat pixels = AV_PIX_FMT_YUV420P;
    if (!codec || (codec->capabilities & AV_CODEC_CAP_HARDWARE) || !codec->pix_fmts) continue;
    bool takes = false;
    for (const AVPixelFormat* f = codec->pix_fmts; *f != AV_PIX_FMT_NONE; ++f)
      takes |= *f == pixels;
    if (!takes || row.codec == AV_CODEC_ID_H263 || row.codec == AV_CODEC_ID_DVVIDEO ||
        row.codec == AV_CODEC_ID_MJPEG)
      continue;  // these encoders require other sizes or full range
    SCOPED_TRACE(codec->name);
    SinkOptions options;
    Dictionary leftover;
    const auto open = [&] {
      (void)open_encoder({{codec, pixels, false}}, container, source, options, leftover);
    };
    options.threads = 1;
    try {
      open();
    } catch (const InvalidArgument&) {
      continue;  // some versions of SVT-AV1 require larger pictures
    }
    options.threads = threads_of(encoder_traits(*codec), 0, 64);
    EXPECT_NO_THROW(open());
    ++opened;
    options.threads = 64;  // a larger request is reduced to the encoder's maximum
    EXPECT_NO_THROW(open());
  }
  EXPECT_GE(opened, 3);
}

/// An encoder with the options that lull sets before it opens the encoder.
struct ConfiguredEncoder {
  CodecPtr context;
  Dictionary options;

  ConfiguredEncoder(const AVCodec& codec, const SinkOptions& wanted)
      : context(avcodec_alloc_context3(&codec)) {
    const TemporaryFolder folder;
    make_clip(folder / "in.mkv", {.frames = 1});
    const FileSource source(folder / "in.mkv", {});
    context->pix_fmt = AV_PIX_FMT_YUV420P;
    set_encoder_options(*context, container_of("out.mkv", source, {}), source.first(), wanted,
                        options);
  }
  bool has_quality_of_ffmpeg() const { return (context->flags & AV_CODEC_FLAG_QSCALE) != 0; }
};

TEST(DefaultQuality, OfNvencIsItsOwnOption) {
  const AVCodec* codec = avcodec_find_encoder_by_name("h264_nvenc");
  if (!codec) GTEST_SKIP() << "this FFmpeg has no h264_nvenc";
  const ConfiguredEncoder plain(*codec, {});
  EXPECT_EQ(plain.options.get("cq"), "18");
  EXPECT_EQ(plain.options.get("rc"), "vbr");
  EXPECT_FALSE(plain.has_quality_of_ffmpeg());
  EXPECT_EQ(plain.context->global_quality, 0);
  EXPECT_EQ(ConfiguredEncoder(*codec, {.vopts = {{"cq", "30"}}}).options.get("cq"), "30");
  EXPECT_FALSE(ConfiguredEncoder(*codec, {.vopts = {{"qp", "20"}}}).options.has("cq"));
  EXPECT_FALSE(ConfiguredEncoder(*codec, {.vopts = {{"b", "9M"}}}).options.has("cq"));
}

// The best quality of Theora is 10, of FFmpeg's own encoders 1.
TEST(DefaultQuality, FollowsTheScaleOfTheEncoder) {
  const ConfiguredEncoder own(*avcodec_find_encoder_by_name("mpeg4"), {});
  EXPECT_TRUE(own.has_quality_of_ffmpeg());
  EXPECT_EQ(own.context->global_quality, 2 * FF_QP2LAMBDA);
  const AVCodec* codec = avcodec_find_encoder_by_name("libtheora");
  if (!codec) GTEST_SKIP() << "this FFmpeg has no libtheora";
  const ConfiguredEncoder theora(*codec, {});
  EXPECT_TRUE(theora.has_quality_of_ffmpeg());
  EXPECT_EQ(theora.context->global_quality, 10 * FF_QP2LAMBDA);
}

TEST(DefaultQuality, OfVp8IsNotLimitedByTheDefaultBitRate) {
  const AVCodec* codec = avcodec_find_encoder_by_name("libvpx");
  if (!codec) GTEST_SKIP() << "this FFmpeg has no libvpx";
  for (const std::optional<double> crf : {std::optional<double>(), std::optional<double>(20)}) {
    const ConfiguredEncoder encoder(*codec, {.crf = crf});
    EXPECT_EQ(encoder.options.get("crf"), crf ? "20" : "10");
    EXPECT_EQ(encoder.options.get("b"), "200M");
  }
  const ConfiguredEncoder limited(*codec, {.vopts = {{"b", "1M"}}});
  EXPECT_EQ(limited.options.get("b"), "1M");
  EXPECT_FALSE(limited.options.has("crf"));
}

// A container that FFmpeg knows under another name, with invented traits.
// FFmpeg's muxers for bare streams write packets of any codec, and its Ogg muxer does not state
// which codecs it supports.
TEST(Traits, OutputsContainTheCodecOfTheirExtension) {
  const TemporaryFolder folder;
  make_clip(folder / "in.mkv", {});
  const std::vector<std::pair<std::string, AVCodecID>> expected = {
      {"out.h264", AV_CODEC_ID_H264},      {"out.hevc", AV_CODEC_ID_HEVC},
      {"out.m2v", AV_CODEC_ID_MPEG2VIDEO}, {"out.m1v", AV_CODEC_ID_MPEG1VIDEO},
      {"out.mjpeg", AV_CODEC_ID_MJPEG},    {"out.ogv", AV_CODEC_ID_THEORA}};
  for (const auto& [name, codec] : expected) {
    SCOPED_TRACE(name);
    if (!avcodec_find_encoder(codec)) continue;
    EXPECT_EQ(transcode(folder / "in.mkv", folder / name), 10);
    const std::vector<StreamRecord> streams = read_packets(folder / name);
    ASSERT_EQ(streams.size(), 1u);
    EXPECT_EQ(streams[0].codec, codec);
    EXPECT_EQ(streams[0].packets.size(), 10u);
  }
  EXPECT_THROW(transcode(folder / "in.mkv", folder / "x.m2v", {.vcodec = "ffv1"}), InvalidArgument);
}

TEST(Traits, InventedContainerFollowsItsTraits) {
  capture_ffmpeg_log();
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.audio = "flac";
  spec.subtitles = "subrip";
  spec.decorate = [](AVFormatContext& c) {
    av_dict_set(&c.metadata, "title", "Alpha", 0);
    av_dict_set(&c.metadata, "scanner", "K7", 0);
    av_dict_set(&c.streams[1]->metadata, "language", "jpn", 0);
  };
  make_clip(folder / "in.mkv", spec);
  FileSource source(folder / "in.mkv", {});
  constexpr std::array<std::string_view, 1> listed = {"title"};
  ContainerTraits card{.name = "card",
                       .tags = ContainerTraits::Tags::listed,
                       .listed_tags = listed,
                       .holds = [](AVCodecID id) { return id == AV_CODEC_ID_FLAC; }};
  Container container = container_of("out.mkv", source, {});
  container.traits = &card;
  const AVStream& sound = *source.demuxer().context().streams[1];
  const AVStream& text = *source.demuxer().context().streams[2];
  EXPECT_EQ(handling_of(sound, container), StreamHandling::copied);
  EXPECT_EQ(handling_of(text, container), StreamHandling::refused);
  Dictionary leftover;
  const AVCodec* ffv1 = avcodec_find_encoder_by_name("ffv1");
  const auto encoder =
      open_encoder({{ffv1, AV_PIX_FMT_YUV420P, false}}, container, source, {}, leftover);
  std::vector<std::string> losses = losses_of(source, container, encoder->context());
  EXPECT_THAT(losses, Contains(HasSubstr("tags of the file: SCANNER (")));
  EXPECT_THAT(losses, Contains(HasSubstr("the language of stream 1")));
  EXPECT_FALSE(needs_free_tags(card, source.demuxer().context().metadata));

  card.tags = ContainerTraits::Tags::listed_and_free;
  card.languages = true;
  card.text_subtitles = AV_CODEC_ID_WEBVTT;
  EXPECT_EQ(handling_of(text, container), StreamHandling::converted);
  losses = losses_of(source, container, encoder->context());
  EXPECT_THAT(losses, Not(Contains(HasSubstr("tags"))));
  EXPECT_THAT(losses, Not(Contains(HasSubstr("language"))));
  EXPECT_TRUE(needs_free_tags(card, source.demuxer().context().metadata));
}

}  // namespace
}  // namespace lull::io::test
