#include "tools/support/clips.h"

#include <algorithm>
#include <bit>
#include <fstream>
#include <stdexcept>

#include "core/samples.h"
#include "io/ffmpeg/ffmpeg.h"
#include "io/picture.h"
#include "support/pictures.h"

namespace lull::tools {
namespace {

using FormatIn = std::unique_ptr<AVFormatContext, io::Releaser<avformat_close_input>>;
struct CloseOut {
  void operator()(AVFormatContext* context) const noexcept {
    avio_closep(&context->pb);
    avformat_free_context(context);
  }
};
using FormatOut = std::unique_ptr<AVFormatContext, CloseOut>;

void require(int code, const char* what) { io::check<IoError>(code, what); }

FormatIn open_in(const std::string& path) {
  AVFormatContext* context = nullptr;
  require(avformat_open_input(&context, path.c_str(), nullptr, nullptr), "open");
  FormatIn in(context);
  require(avformat_find_stream_info(in.get(), nullptr), "find streams");
  return in;
}

FormatOut open_out(const std::string& path) {
  AVFormatContext* context = nullptr;
  require(avformat_alloc_output_context2(&context, nullptr, "matroska", path.c_str()), "create");
  FormatOut out(context);
  require(avio_open(&out->pb, path.c_str(), AVIO_FLAG_WRITE), "open for writing");
  return out;
}

constexpr int sound_rate = 8000, sound_samples = 320;  // samples of a packet: 40 ms

AVStream* add_stream(AVFormatContext* out, AVMediaType type, AVCodecID codec) {
  AVStream* stream = io::non_null(avformat_new_stream(out, nullptr));
  stream->codecpar->codec_type = type;
  stream->codecpar->codec_id = codec;
  stream->time_base = {1, 1000};
  return stream;
}

AVStream* add_sound(AVFormatContext* out) {
  AVStream* stream = add_stream(out, AVMEDIA_TYPE_AUDIO, AV_CODEC_ID_PCM_S16LE);
  stream->codecpar->sample_rate = sound_rate;
  stream->codecpar->format = AV_SAMPLE_FMT_S16;
  stream->codecpar->bits_per_coded_sample = 16;
  stream->codecpar->block_align = 2;
  av_channel_layout_default(&stream->codecpar->ch_layout, 1);
  av_dict_set(&stream->metadata, "language", "ces", 0);
  return stream;
}

void write_packet(AVFormatContext* out, const AVStream* stream, const std::string& bytes,
                  std::int64_t pts_ms, std::int64_t duration_ms) {
  const io::PacketPtr packet = io::make_packet();
  require(av_new_packet(packet.get(), static_cast<int>(bytes.size())), "packet");
  std::copy(bytes.begin(), bytes.end(), packet->data);
  packet->stream_index = stream->index;
  packet->flags = AV_PKT_FLAG_KEY;
  packet->pts = packet->dts = av_rescale_q(pts_ms, {1, 1000}, stream->time_base);
  packet->duration = av_rescale_q(duration_ms, {1, 1000}, stream->time_base);
  require(av_interleaved_write_frame(out, packet.get()), "write");
}

void write_sound_packets(AVFormatContext* out, const AVStream* stream, int count) {
  for (int i = 0; i < count; ++i) {
    std::string bytes;
    for (int s = 0; s < sound_samples; ++s) {
      const auto sample = static_cast<std::uint16_t>((i * sound_samples + s) * 7919);
      bytes += static_cast<char>(sample & 255);
      bytes += static_cast<char>(sample >> 8);
    }
    write_packet(out, stream, bytes, 40 * i, 40);
  }
}

void append_plane(const Frame& frame, int plane, bool big_endian, std::string& bytes) {
  for (int y = 0; y < frame.format.plane_height(plane); ++y)
    for (int x = 0; x < frame.format.plane_width(plane); ++x) {
      if (frame.format.sample == SampleType::u8) {
        bytes += static_cast<char>(frame.plane<std::uint8_t>(plane)(x, y));
        continue;
      }
      const std::uint16_t v = frame.plane<std::uint16_t>(plane)(x, y);
      const char low = static_cast<char>(v & 255), high = static_cast<char>(v >> 8);
      bytes += big_endian ? high : low;
      bytes += big_endian ? low : high;
    }
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

std::string y4m_colour(const FrameFormat& f) {
  const std::string depth = std::to_string(f.bits);
  if (f.layout == Layout::gray) return f.bits == 8 ? "mono" : "mono" + depth;
  const std::string name = f.chroma_shift_y == 1 ? "420" : f.chroma_shift_x == 1 ? "422" : "444";
  return f.bits == 8 ? (name == "420" ? "420mpeg2" : name) : name + "p" + depth;
}

}  // namespace

Frame clean_picture(const FrameFormat& format, double phase) {
  Frame frame = lull::test_support::make_frame(format);
  for (int i = 0; i < format.planes(); ++i)
    store_plane(lull::test_support::texture_picture(format.plane_width(i), format.plane_height(i),
                                                    phase + i)
                    .view(),
                frame, i);
  return frame;
}

Frame noisy_picture(const Frame& clean, double sigma, unsigned seed) {
  Frame frame = lull::test_support::make_frame(clean.format);
  for (int i = 0; i < clean.format.planes(); ++i)
    store_plane(lull::test_support::with_noise(lull::test_support::plane_of(clean, i).view(), sigma,
                                               3 * seed + i)
                    .view(),
                frame, i);
  return frame;
}

void write_pnm(const std::string& path, const Frame& picture) {
  const FrameFormat& f = picture.format;
  const bool rgb = f.layout == Layout::rgb;
  std::string bytes = (rgb ? "P6\n" : "P5\n") + std::to_string(f.width) + " " +
                      std::to_string(f.height) + "\n" + std::to_string((1 << f.bits) - 1) + "\n";
  std::string planes[3];
  for (int i = 0; i < f.planes(); ++i) append_plane(picture, i, true, planes[i]);
  const std::size_t size = f.bytes_per_sample();
  for (std::size_t at = 0; at < planes[0].size(); at += size)
    for (int i = 0; i < f.planes(); ++i) bytes += planes[i].substr(at, size);
  write_file(path, bytes);
}

void write_y4m(const std::string& path, const std::vector<Frame>& frames) {
  const FrameFormat& f = frames.front().format;
  std::string bytes = "YUV4MPEG2 W" + std::to_string(f.width) + " H" + std::to_string(f.height) +
                      " F25:1 Ip A1:1 C" + y4m_colour(f) + "\n";
  for (const Frame& frame : frames) {
    bytes += "FRAME\n";
    for (int i = 0; i < f.planes(); ++i) append_plane(frame, i, false, bytes);
  }
  write_file(path, bytes);
}

void convert(const std::string& from, const std::string& to, const io::SinkOptions& options) {
  const auto source = io::open_source(from);
  const auto sink = io::open_sink(to, *source, options);
  while (auto frame = source->read()) sink->write(std::move(*frame));
  sink->finish();
}

std::vector<Frame> frames_of(const std::string& path) {
  const auto source = io::open_source(path);
  std::vector<Frame> frames;
  while (auto frame = source->read()) frames.push_back(std::move(*frame));
  return frames;
}

void add_other_streams(const std::string& video, const std::string& path) {
  const FormatIn in = open_in(video);
  const FormatOut out = open_out(path);
  av_dict_set(&out->metadata, "title", "Tennis & tea", 0);
  AVStream* pictures = io::non_null(avformat_new_stream(out.get(), nullptr));
  require(avcodec_parameters_copy(pictures->codecpar, in->streams[0]->codecpar), "parameters");
  pictures->codecpar->codec_tag = 0;
  pictures->time_base = {1, 1000};
  const AVStream* sound = add_sound(out.get());
  const AVStream* words = add_stream(out.get(), AVMEDIA_TYPE_SUBTITLE, AV_CODEC_ID_SUBRIP);
  require(avformat_write_header(out.get(), nullptr), "header");
  const io::PacketPtr packet = io::make_packet();
  std::int64_t number = 0;
  for (; av_read_frame(in.get(), packet.get()) >= 0; ++number, av_packet_unref(packet.get())) {
    packet->stream_index = 0;
    // FFV1 has no reordered frames, so any increasing timestamps are valid.
    packet->pts = packet->dts =
        av_rescale_q(40 * number + 11 * (number % 3), {1, 1000}, pictures->time_base);
    packet->duration = 0;
    packet->pos = -1;
    require(av_write_frame(out.get(), packet.get()), "write");
  }
  write_sound_packets(out.get(), sound, static_cast<int>(number));
  write_packet(out.get(), words, "Fifteen love", 40, 80);
  write_packet(out.get(), words, "Thirty love", 160, 80);
  require(av_write_trailer(out.get()), "trailer");
}

namespace {

AVStream* add_copy(AVFormatContext* out, const AVFormatContext& in) {
  AVStream* stream = io::non_null(avformat_new_stream(out, nullptr));
  require(avcodec_parameters_copy(stream->codecpar, in.streams[0]->codecpar), "parameters");
  stream->codecpar->codec_tag = 0;
  stream->time_base = in.streams[0]->time_base;
  stream->avg_frame_rate = in.streams[0]->avg_frame_rate;
  return stream;
}

/// Copies all packets; returns their number.
int copy_packets(AVFormatContext* in, AVFormatContext* out, const AVStream* to) {
  const io::PacketPtr packet = io::make_packet();
  int count = 0;
  for (; av_read_frame(in, packet.get()) >= 0; ++count) {
    av_packet_rescale_ts(packet.get(), in->streams[0]->time_base, to->time_base);
    packet->stream_index = to->index;
    packet->pos = -1;
    require(av_interleaved_write_frame(out, packet.get()), "write");
  }
  return count;
}

/// Adds a file to a Matroska file, which readers show as its cover.
void add_cover(AVFormatContext* out) {
  AVStream* stream = add_stream(out, AVMEDIA_TYPE_ATTACHMENT, AV_CODEC_ID_PNG);
  const std::string png = io::encode_png(clean_picture({.width = 16, .height = 16}));
  stream->codecpar->extradata = static_cast<std::uint8_t*>(
      io::non_null(av_mallocz(png.size() + AV_INPUT_BUFFER_PADDING_SIZE)));
  std::copy(png.begin(), png.end(), stream->codecpar->extradata);
  stream->codecpar->extradata_size = static_cast<int>(png.size());
  av_dict_set(&stream->metadata, "filename", "cover.png", 0);
  av_dict_set(&stream->metadata, "mimetype", "image/png", 0);
}

}  // namespace

void join_videos(const std::string& first, const std::string& second, const std::string& path,
                 bool cover) {
  const FormatIn a = open_in(first), b = open_in(second);
  const FormatOut out = open_out(path);
  const AVStream* left = add_copy(out.get(), *a);
  const AVStream* sound = path.ends_with(".mp4") ? nullptr : add_sound(out.get());
  const AVStream* right = add_copy(out.get(), *b);
  if (cover) add_cover(out.get());
  require(avformat_write_header(out.get(), nullptr), "header");
  const int frames = copy_packets(a.get(), out.get(), left);
  if (sound) write_sound_packets(out.get(), sound, frames);
  copy_packets(b.get(), out.get(), right);
  require(av_write_trailer(out.get()), "trailer");
}

void write_sound(const std::string& path) {
  const FormatOut out = open_out(path);
  const AVStream* sound = add_sound(out.get());
  require(avformat_write_header(out.get(), nullptr), "header");
  write_sound_packets(out.get(), sound, 10);
  require(av_write_trailer(out.get()), "trailer");
}

const StreamFacts& FileFacts::first(const std::string& type) const {
  for (const StreamFacts& stream : streams)
    if (stream.type == type) return stream;
  throw std::runtime_error("no " + type + " stream");
}

FileFacts facts_of(const std::string& path) {
  const FormatIn in = open_in(path);
  const auto entry = [](const AVDictionary* dictionary, const char* key) {
    const AVDictionaryEntry* found = av_dict_get(dictionary, key, nullptr, 0);
    return std::string(found ? found->value : "");
  };
  FileFacts facts{.container = in->iformat->name, .title = entry(in->metadata, "title")};
  for (unsigned i = 0; i < in->nb_streams; ++i) {
    const AVCodecParameters& parameters = *in->streams[i]->codecpar;
    const char* type = av_get_media_type_string(parameters.codec_type);
    StreamFacts stream;
    stream.type = type ? type : "unknown";
    stream.codec = avcodec_get_name(parameters.codec_id);
    stream.language = entry(in->streams[i]->metadata, "language");
    if (parameters.codec_type == AVMEDIA_TYPE_VIDEO)
      if (const char* name = av_get_pix_fmt_name(static_cast<AVPixelFormat>(parameters.format)))
        stream.pixel_format = name;
    facts.streams.push_back(std::move(stream));
  }
  const io::PacketPtr packet = io::make_packet();
  for (; av_read_frame(in.get(), packet.get()) >= 0; av_packet_unref(packet.get())) {
    StreamFacts& stream = facts.streams[packet->stream_index];
    stream.pts_ms.push_back(av_rescale_q(packet->pts, in->streams[packet->stream_index]->time_base,
                                         AVRational{1, 1000}));
    stream.packets.emplace_back(reinterpret_cast<const char*>(packet->data), packet->size);
    if (packet->flags & AV_PKT_FLAG_KEY) ++stream.keyframes;
  }
  for (StreamFacts& stream : facts.streams) std::sort(stream.pts_ms.begin(), stream.pts_ms.end());
  return facts;
}

}  // namespace lull::tools
