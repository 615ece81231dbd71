// Tests that uncompressed audio is converted without loss if the output's container does not
// support the input's codec.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "io/packets/pcm_converter.h"
#include "io/probe.h"
#include "io/support/clip.h"

namespace lull::io::test {
namespace {

using testing::Contains;
using testing::HasSubstr;

void require(int code) {
  if (code < 0) throw std::runtime_error(error_text(code));
}

/// Returns the samples of an audio stream, 32 bits each.
std::vector<std::int32_t> samples_of(const std::string& path) {
  AVFormatContext* context = nullptr;
  require(avformat_open_input(&context, ("file:" + path).c_str(), nullptr, nullptr));
  require(avformat_find_stream_info(context, nullptr));
  const int index = av_find_best_stream(context, AVMEDIA_TYPE_AUDIO, -1, -1, nullptr, 0);
  require(index);
  const AVCodecParameters& codec = *context->streams[index]->codecpar;
  const CodecPtr decoder(avcodec_alloc_context3(avcodec_find_decoder(codec.codec_id)));
  require(avcodec_parameters_to_context(decoder.get(), &codec));
  require(avcodec_open2(decoder.get(), nullptr, nullptr));
  std::vector<std::int32_t> samples;
  for (PacketPtr p = make_packet(); av_read_frame(context, p.get()) >= 0;
       av_packet_unref(p.get())) {
    if (p->stream_index != index) continue;
    require(avcodec_send_packet(decoder.get(), p.get()));
    for (FramePtr f = make_frame(); avcodec_receive_frame(decoder.get(), f.get()) >= 0;)
      for (int i = 0; i < f->nb_samples * f->ch_layout.nb_channels; ++i) {
        std::int32_t sample = 0;
        if (f->format == AV_SAMPLE_FMT_S16)
          sample = std::int32_t{reinterpret_cast<const std::int16_t*>(f->data[0])[i]} << 16;
        else
          std::memcpy(&sample, f->data[0] + 4 * i, 4);
        samples.push_back(sample);
      }
  }
  avformat_close_input(&context);
  return samples;
}

/// A stream of a new file with its encoder.
struct Track {
  CodecPtr encoder;
  AVStream* stream = nullptr;
};

Track add_track(AVFormatContext& context, const char* name,
                const std::function<void(AVCodecContext&)>& set_up) {
  Track track{CodecPtr(avcodec_alloc_context3(avcodec_find_encoder_by_name(name)))};
  set_up(*track.encoder);
  require(avcodec_open2(track.encoder.get(), nullptr, nullptr));
  track.stream = avformat_new_stream(&context, nullptr);
  track.stream->time_base = track.encoder->time_base;
  require(avcodec_parameters_from_context(track.stream->codecpar, track.encoder.get()));
  return track;
}

void write(AVFormatContext& context, const Track& track, const AVFrame* frame) {
  require(avcodec_send_frame(track.encoder.get(), frame));
  for (PacketPtr p = make_packet(); avcodec_receive_packet(track.encoder.get(), p.get()) >= 0;) {
    av_packet_rescale_ts(p.get(), track.encoder->time_base, track.stream->time_base);
    p->stream_index = track.stream->index;
    require(av_interleaved_write_frame(&context, p.get()));
  }
}

/// Writes a Blu-ray stream of 10 frames with audio of 16 or 24 bits in six channels.
void make_blu_ray(const std::string& path, int bits) {
  AVFormatContext* context = nullptr;
  require(avformat_alloc_output_context2(&context, nullptr, "mpegts", path.c_str()));
  require(avio_open(&context->pb, path.c_str(), AVIO_FLAG_WRITE));
  const Track video = add_track(*context, "mpeg2video", [](AVCodecContext& c) {
    c.width = 64, c.height = 48, c.pix_fmt = AV_PIX_FMT_YUV420P;
    c.time_base = {1, 25}, c.framerate = {25, 1};
  });
  const Track audio = add_track(*context, "pcm_bluray", [bits](AVCodecContext& c) {
    c.sample_rate = 48000, c.time_base = {1, 48000};
    c.sample_fmt = bits == 16 ? AV_SAMPLE_FMT_S16 : AV_SAMPLE_FMT_S32;
    c.bits_per_raw_sample = bits;
    c.ch_layout = AV_CHANNEL_LAYOUT_5POINT1;
  });
  Dictionary options;
  options.set("mpegts_m2ts_mode", "1");
  require(avformat_write_header(context, options.address()));
  std::mt19937 random(3);
  const int block = audio.encoder->frame_size > 0 ? audio.encoder->frame_size : 240;
  std::int64_t sent = 0;
  for (int i = 0; i < 10; ++i) {
    const FramePtr picture = random_picture(AV_PIX_FMT_YUV420P, 64, 48, 100 + i);
    picture->pts = i;
    write(*context, video, picture.get());
    for (; sent + block <= std::int64_t{1920} * (i + 1); sent += block) {
      const FramePtr sound = make_frame();
      sound->nb_samples = block;
      sound->format = audio.encoder->sample_fmt;
      sound->sample_rate = 48000;
      sound->pts = sent;
      require(av_channel_layout_copy(&sound->ch_layout, &audio.encoder->ch_layout));
      require(av_frame_get_buffer(sound.get(), 0));
      for (int k = 0; k < block * 6; ++k) {
        const auto sample = static_cast<std::int32_t>(random() << (32 - bits));
        if (bits == 16)
          reinterpret_cast<std::int16_t*>(sound->data[0])[k] =
              static_cast<std::int16_t>(sample >> 16);
        else
          std::memcpy(sound->data[0] + 4 * k, &sample, 4);
      }
      write(*context, audio, sound.get());
    }
  }
  write(*context, video, nullptr);
  write(*context, audio, nullptr);
  require(av_write_trailer(context));
  avio_closep(&context->pb);
  avformat_free_context(context);
}

class BluRayAudio : public testing::TestWithParam<int> {};

TEST_P(BluRayAudio, BecomesPcmWithEqualSamples) {
  if (!has_encoder("pcm_bluray")) GTEST_SKIP() << "FFmpeg lacks pcm_bluray";
  const TemporaryFolder folder;
  make_blu_ray(folder / "in.m2ts", GetParam());
  const std::vector<std::int32_t> expected = samples_of(folder / "in.m2ts");
  ASSERT_GT(expected.size(), 10u * 7 * 240 * 6);
  const std::string name = GetParam() == 16 ? "pcm_s16le" : "pcm_s24le";
  for (const char* output : {"out.mkv", "out.mov"}) {
    SCOPED_TRACE(output);
    const std::string out = folder / output;
    const auto source = open_source(folder / "in.m2ts");
    const auto sink = open_sink(out, *source, {.vcodec = "mpeg4"});
    while (auto frame = source->read()) sink->write(*std::move(frame));
    sink->finish();
    EXPECT_THAT(sink->notes(), Contains(HasSubstr("stream 1 (audio, pcm_bluray) becomes " + name)));
    EXPECT_EQ(avcodec_get_name(read_packets(out)[1].codec), name);
    EXPECT_EQ(samples_of(out), expected);
    if (std::string(output) == "out.mov") continue;  // MOV has no packets of uncompressed audio
    const auto before = read_packets(folder / "in.m2ts"), after = read_packets(out);
    EXPECT_NEAR(after[1].packets[7].pts_us - after[1].packets[0].pts_us,
                before[1].packets[7].pts_us - before[1].packets[0].pts_us, 1100);
  }
}

INSTANTIATE_TEST_SUITE_P(Bits, BluRayAudio, testing::Values(16, 24));

TEST(BluRayAudioRefused, NamesARemedyWhereNoFormFits) {
  if (!has_encoder("pcm_bluray")) GTEST_SKIP() << "FFmpeg lacks pcm_bluray";
  const TemporaryFolder folder;
  make_blu_ray(folder / "in.m2ts", 16);
  const auto source = open_source(folder / "in.m2ts");
  try {
    (void)open_sink(folder / "out.webm", *source, {});
    FAIL() << "WebM holds no uncompressed audio";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr("stream 1 (audio, pcm_bluray)"));
    EXPECT_THAT(error.what(), HasSubstr("use .mkv"));
    EXPECT_THAT(error.what(), HasSubstr("--drop 1"));
  }
}

TEST(EquivalentPcm, HoldsAllBits) {
  AVCodecParameters codec{};
  const auto first = [&](AVCodecID id, AVSampleFormat format, int bits) {
    codec.codec_id = id;
    codec.format = format;
    codec.bits_per_raw_sample = bits;
    const auto all = equivalent_pcm(codec);
    return all.empty() ? AV_CODEC_ID_NONE : all.front();
  };
  EXPECT_EQ(first(AV_CODEC_ID_PCM_BLURAY, AV_SAMPLE_FMT_S16, 16), AV_CODEC_ID_PCM_S16LE);
  EXPECT_EQ(first(AV_CODEC_ID_PCM_DVD, AV_SAMPLE_FMT_S32, 20), AV_CODEC_ID_PCM_S24LE);
  EXPECT_EQ(first(AV_CODEC_ID_S302M, AV_SAMPLE_FMT_S32, 24), AV_CODEC_ID_PCM_S24LE);
  EXPECT_EQ(first(AV_CODEC_ID_PCM_S32BE, AV_SAMPLE_FMT_S32, 32), AV_CODEC_ID_PCM_S32LE);
  EXPECT_EQ(first(AV_CODEC_ID_PCM_F32BE, AV_SAMPLE_FMT_FLT, 32), AV_CODEC_ID_PCM_F32LE);
  EXPECT_EQ(first(AV_CODEC_ID_PCM_MULAW, AV_SAMPLE_FMT_S16, 8), AV_CODEC_ID_PCM_S16LE);
  EXPECT_EQ(first(AV_CODEC_ID_TRUEHD, AV_SAMPLE_FMT_S32, 24), AV_CODEC_ID_NONE);
  EXPECT_EQ(first(AV_CODEC_ID_AAC, AV_SAMPLE_FMT_FLTP, 0), AV_CODEC_ID_NONE);
}

// A second video stream, of another camera for example.
TEST(SecondVideo, IsCopiedWithANote) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.decorate = [](AVFormatContext& context) {
    AVStream* second = avformat_new_stream(&context, nullptr);
    require(avcodec_parameters_copy(second->codecpar, context.streams[0]->codecpar));
    second->time_base = context.streams[0]->time_base;
  };
  make_clip(folder / "in.mkv", spec);
  for (const bool drop : {false, true}) {
    const auto source = open_source(folder / "in.mkv");
    const auto sink =
        open_sink(folder / "out.mkv", *source, {.overwrite = true, .drops = {.video = drop}});
    while (auto frame = source->read()) sink->write(*std::move(frame));
    sink->finish();
    EXPECT_THAT(sink->notes(),
                Contains(HasSubstr(drop ? "dropped by --drop: stream 1"
                                        : "stream 1 (video, ffv1) is copied, not denoised; "
                                          "--video all denoises each, --drop 1 leaves it out")));
    EXPECT_EQ(read_packets(folder / "out.mkv").size(), drop ? 1u : 2u);
  }
}

}  // namespace
}  // namespace lull::io::test
