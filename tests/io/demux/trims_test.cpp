// Tests that sound and pictures that an edit list removes do not reappear.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "io/support/clip.h"

namespace lull::io::test {
namespace {

using Context = std::unique_ptr<AVFormatContext, Releaser<avformat_close_input>>;

Context open(const std::string& path) {
  AVFormatContext* context = nullptr;
  if (avformat_open_input(&context, path.c_str(), nullptr, nullptr) < 0)
    throw std::runtime_error("cannot open " + path);
  avformat_find_stream_info(context, nullptr);
  return Context(context);
}

/// Moves all streams of `from` to earlier times by `seconds`. An edit list hides the content before
/// 0, as when a phone trims a clip.
void trim(const std::string& from, const std::string& to, double seconds) {
  const Context input = open(from);
  AVFormatContext* output = nullptr;
  ASSERT_GE(avformat_alloc_output_context2(&output, nullptr, nullptr, to.c_str()), 0);
  for (unsigned i = 0; i < input->nb_streams; ++i) {
    AVStream* stream = avformat_new_stream(output, nullptr);
    avcodec_parameters_copy(stream->codecpar, input->streams[i]->codecpar);
    stream->codecpar->codec_tag = 0;
    stream->time_base = input->streams[i]->time_base;
  }
  ASSERT_GE(avio_open(&output->pb, to.c_str(), AVIO_FLAG_WRITE), 0);
  output->avoid_negative_ts = 0;
  ASSERT_GE(avformat_write_header(output, nullptr), 0);
  for (PacketPtr p = make_packet(); av_read_frame(input.get(), p.get()) >= 0;) {
    const AVRational tick = input->streams[p->stream_index]->time_base;
    const auto shift = static_cast<std::int64_t>(seconds / av_q2d(tick) + 0.5);
    p->pts -= shift;
    p->dts -= shift;
    av_packet_rescale_ts(p.get(), tick, output->streams[p->stream_index]->time_base);
    ASSERT_GE(av_interleaved_write_frame(output, p.get()), 0);
  }
  ASSERT_GE(av_write_trailer(output), 0);
  avio_closep(&output->pb);
  avformat_free_context(output);
}

struct Length {
  double first = 0, last = 0;  // beginning and end of what is presented, in seconds
  int packets = 0;             // all packets
};

/// Returns the extent of the packets of one type that are not marked as trimmed.
Length length_of(const std::string& path, AVMediaType type) {
  const Context input = open(path);
  Length length{1e9, -1e9};
  for (PacketPtr p = make_packet(); av_read_frame(input.get(), p.get()) >= 0;
       av_packet_unref(p.get())) {
    const AVStream& stream = *input->streams[p->stream_index];
    if (stream.codecpar->codec_type != type) continue;
    ++length.packets;
    if (p->flags & AV_PKT_FLAG_DISCARD) continue;
    const double tick = av_q2d(stream.time_base);
    length.first = std::min(length.first, static_cast<double>(p->pts) * tick);
    length.last = std::max(length.last, static_cast<double>(p->pts + p->duration) * tick);
  }
  return length;
}

class Trimmed : public testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(Trimmed, PartsStayTrimmed) {
  const auto& [codec, name] = GetParam();
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.encoder = has_encoder("libx264") ? "libx264" : "mpeg4";
  spec.encoder_options = {{"g", "100"}};
  spec.frames = 75;
  spec.audio = codec;
  spec.audio_seconds = 3;
  make_clip(folder / "whole.mov", spec);
  const std::string in = folder / "in.mov", out = folder / name;
  trim(folder / "whole.mov", in, 1.02);
  const Decoded pictures = decode(in);
  ASSERT_LT(pictures.pictures.size(), 52u);
  const Length sound = length_of(in, AVMEDIA_TYPE_AUDIO);
  const Length all = length_of(folder / "whole.mov", AVMEDIA_TYPE_AUDIO);
  ASSERT_GE(sound.packets, all.packets - 1);  // nearly all packets are in the file

  ASSERT_EQ(transcode(in, out), static_cast<int>(pictures.pictures.size()));
  const Decoded shown = decode(out);
  ASSERT_EQ(shown.pictures.size(), pictures.pictures.size());
  // Containers without negative times may shift the complete file.
  const double shift = shown.pictures[0].time - pictures.pictures[0].time;
  for (std::size_t i = 0; i < shown.pictures.size(); ++i)
    EXPECT_NEAR(shown.pictures[i].time, pictures.pictures[i].time + shift, 2e-3) << i;
  const Length heard = length_of(out, AVMEDIA_TYPE_AUDIO);
  constexpr double packet = 1024.0 / 48000;
  EXPECT_NEAR(heard.last, sound.last + shift, 2e-3);
  const int seen = static_cast<int>((sound.last - sound.first) / packet + 0.5);
  // The packets that a decoder needs before the first audible packet are hidden if the container
  // can hide them. In other containers, their duration is less than the inaccuracy of a cut.
  const bool hidden = name == "out.mp4" || name == "out.mov", lossy = codec == "aac";
  const int more = !lossy ? 0 : hidden ? 5 : name == "out.mkv" ? 1 : 0;
  EXPECT_GE(heard.packets, seen + (lossy && hidden ? 1 : more));
  EXPECT_LE(heard.packets, seen + more);
  EXPECT_NEAR(heard.first, sound.first + shift - (hidden ? 0 : more * packet), 2e-3);
}

INSTANTIATE_TEST_SUITE_P(Sound, Trimmed,
                         testing::Values(std::pair{"aac", "out.mkv"}, std::pair{"aac", "out.mp4"},
                                         std::pair{"aac", "out.mov"}, std::pair{"aac", "out.nut"},
                                         std::pair{"pcm_s16le", "out.mkv"},
                                         std::pair{"pcm_s16le", "out.mov"}),
                         [](const auto& info) {
                           return info.param.first + "_" + info.param.second.substr(4);
                         });

}  // namespace
}  // namespace lull::io::test
