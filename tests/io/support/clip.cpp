#include "io/support/clip.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string_view>

namespace lull::io::test {
namespace {

namespace fs = std::filesystem;

void require(int code, const std::string& what) {
  if (code < 0) throw std::runtime_error("test clip: " + what + ": " + error_text(code));
}

std::uint64_t hash_of(const std::uint8_t* data, std::size_t count) {
  return std::hash<std::string_view>{}({reinterpret_cast<const char*>(data), count});
}

// A file that is being written.
class Writer {
 public:
  Writer(const std::string& path, const ClipSpec& spec) : spec_(spec) {
    const char* name = spec.muxer.empty() ? nullptr : spec.muxer.c_str();
    require(avformat_alloc_output_context2(&context_, nullptr, name, path.c_str()), path);
    context_->strict_std_compliance = FF_COMPLIANCE_UNOFFICIAL;
    context_->flags |= AVFMT_FLAG_BITEXACT;
    if (!(context_->oformat->flags & AVFMT_NOFILE))
      require(avio_open(&context_->pb, path.c_str(), AVIO_FLAG_WRITE), path);
  }
  ~Writer() {
    if (!(context_->oformat->flags & AVFMT_NOFILE)) avio_closep(&context_->pb);
    avformat_free_context(context_);
  }

  CodecPtr encoder(const std::string& name) {
    const AVCodec* codec = avcodec_find_encoder_by_name(name.c_str());
    if (!codec) throw std::runtime_error("test clip: no encoder " + name);
    CodecPtr encoder(avcodec_alloc_context3(codec));
    encoder->strict_std_compliance = FF_COMPLIANCE_UNOFFICIAL;
    if (context_->oformat->flags & AVFMT_GLOBALHEADER)
      encoder->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    return encoder;
  }
  AVStream* add(AVCodecContext& encoder, Dictionary& options) {
    require(avcodec_open2(&encoder, nullptr, options.address()), encoder.codec->name);
    AVStream* stream = avformat_new_stream(context_, nullptr);
    require(avcodec_parameters_from_context(stream->codecpar, &encoder), "stream");
    stream->time_base = encoder.time_base;
    stream->avg_frame_rate = encoder.framerate;
    return stream;
  }
  void start() {
    Dictionary options;
    for (const auto& [key, value] : spec_.muxer_options) options.set(key, value);
    if (spec_.decorate) spec_.decorate(*context_);
    require(avformat_write_header(context_, options.address()), "head");
  }
  void encode(AVCodecContext& encoder, const AVStream& stream, const AVFrame* frame) {
    require(avcodec_send_frame(&encoder, frame), "send");
    for (PacketPtr packet = make_packet(); avcodec_receive_packet(&encoder, packet.get()) >= 0;) {
      av_packet_rescale_ts(packet.get(), encoder.time_base, stream.time_base);
      packet->stream_index = stream.index;
      require(av_interleaved_write_frame(context_, packet.get()), "write");
    }
  }
  void write(AVPacket& packet) { require(av_interleaved_write_frame(context_, &packet), "write"); }
  void end() { require(av_write_trailer(context_), "trailer"); }

 private:
  const ClipSpec& spec_;
  AVFormatContext* context_ = nullptr;
};

struct Video {
  CodecPtr encoder;
  AVStream* stream = nullptr;
};

Video add_video(Writer& writer, const ClipSpec& spec) {
  Video video{writer.encoder(spec.encoder)};
  AVCodecContext& e = *video.encoder;
  e.width = spec.width;
  e.height = spec.height;
  e.pix_fmt = spec.format;
  e.time_base = spec.time_base;
  e.framerate = spec.frame_rate;
  Dictionary options;
  for (const auto& [key, value] : spec.encoder_options) options.set(key, value);
  if (spec.set_up) spec.set_up(e);
  video.stream = writer.add(e, options);
  return video;
}

struct Audio {
  CodecPtr encoder;
  AVStream* stream = nullptr;
};

Audio add_audio(Writer& writer, const ClipSpec& spec) {
  Audio audio{writer.encoder(spec.audio)};
  AVCodecContext& e = *audio.encoder;
  e.sample_rate = 48000;
  e.sample_fmt = e.codec->sample_fmts[0];
  e.ch_layout = AV_CHANNEL_LAYOUT_STEREO;
  e.time_base = {1, e.sample_rate};
  Dictionary none;
  audio.stream = writer.add(e, none);
  return audio;
}

void write_audio(Writer& writer, Audio& audio, double seconds) {
  AVCodecContext& e = *audio.encoder;
  const int chunk = e.frame_size > 0 ? e.frame_size : 1024;
  std::mt19937 random(7);
  for (std::int64_t at = 0; at < seconds * e.sample_rate; at += chunk) {
    const FramePtr frame = make_frame();
    frame->nb_samples = chunk;
    frame->format = e.sample_fmt;
    frame->sample_rate = e.sample_rate;
    av_channel_layout_copy(&frame->ch_layout, &e.ch_layout);
    frame->pts = at;
    require(av_frame_get_buffer(frame.get(), 0), "audio");
    // For all sample types, small values in every 32-bit word are weak noise or silence.
    for (int i = 0; i < AV_NUM_DATA_POINTERS && frame->buf[i]; ++i) {
      std::memset(frame->buf[i]->data, 0, frame->buf[i]->size);
      if (e.sample_fmt == AV_SAMPLE_FMT_S16)
        for (std::size_t b = 0; b < frame->buf[i]->size; b += 2)
          frame->buf[i]->data[b] = static_cast<std::uint8_t>(random());
    }
    writer.encode(e, *audio.stream, frame.get());
  }
  writer.encode(e, *audio.stream, nullptr);
}

void write_subtitles(Writer& writer, int index, AVRational time_base) {
  for (int i = 0; i < 3; ++i) {
    const std::string text = "line " + std::to_string(i);
    const PacketPtr packet = make_packet();
    require(av_new_packet(packet.get(), static_cast<int>(text.size())), "subtitles");
    std::ranges::copy(text, packet->data);
    packet->stream_index = index;
    packet->pts = packet->dts = av_rescale_q(100 + 200 * i, {1, 1000}, time_base);
    packet->duration = av_rescale_q(150, {1, 1000}, time_base);
    packet->flags |= AV_PKT_FLAG_KEY;
    writer.write(*packet);
  }
}

}  // namespace

bool has_encoder(const char* name) { return avcodec_find_encoder_by_name(name) != nullptr; }

TemporaryFolder::TemporaryFolder(bool in_memory) {
  const bool has_memory = in_memory && fs::is_directory("/dev/shm");
  std::string name =
      ((has_memory ? fs::path("/dev/shm") : fs::temp_directory_path()) / "lull-io-XXXXXX").string();
  if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
  path_ = name;
}
TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::vector<std::string> TemporaryFolder::files() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path_))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

FramePtr random_picture(AVPixelFormat format, int width, int height, unsigned seed) {
  FramePtr picture = make_frame();
  picture->format = format;
  picture->width = width;
  picture->height = height;
  require(av_frame_get_buffer(picture.get(), 0), "picture");
  for (int i = 0; i < AV_NUM_DATA_POINTERS && picture->buf[i]; ++i)
    std::memset(picture->buf[i]->data, 0, picture->buf[i]->size);
  const AVPixFmtDescriptor& d = *av_pix_fmt_desc_get(format);
  std::mt19937 random(seed);
  if (d.flags & AV_PIX_FMT_FLAG_FLOAT) {  // values that 16 bits can represent, too
    for (int i = 0; i < AV_NUM_DATA_POINTERS && picture->buf[i]; ++i)
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
          const float value = static_cast<float>(random() & 1023) / 512 - 0.5f;
          std::memcpy(picture->data[i] + std::ptrdiff_t{y} * picture->linesize[i] + 4 * x, &value,
                      4);
        }
    return picture;
  }
  std::vector<std::uint16_t> line(width);
  for (int c = 0; c < d.nb_components; ++c) {
    const bool chroma = (c == 1 || c == 2) && !(d.flags & AV_PIX_FMT_FLAG_RGB);
    const int w = chroma ? AV_CEIL_RSHIFT(width, d.log2_chroma_w) : width;
    const int h = chroma ? AV_CEIL_RSHIFT(height, d.log2_chroma_h) : height;
    for (int y = 0; y < h; ++y) {
      for (int x = 0; x < w; ++x)
        line[x] = static_cast<std::uint16_t>(random() & ((1u << d.comp[c].depth) - 1));
      av_write_image_line(line.data(), picture->data, picture->linesize, &d, 0, y, c, w);
    }
  }
  return picture;
}

void make_clip(const std::string& path, const ClipSpec& spec) {
  Writer writer(path, spec);
  Video video = add_video(writer, spec);
  Audio audio;
  if (!spec.audio.empty()) audio = add_audio(writer, spec);
  AVStream* subtitles = nullptr;
  CodecPtr subtitle_encoder;
  if (!spec.subtitles.empty()) {
    subtitle_encoder = writer.encoder(spec.subtitles);
    subtitle_encoder->time_base = {1, 1000};
    // FFmpeg's subtitle encoders read ASS, which requires a header.
    constexpr std::string_view head = "[Script Info]\nScriptType: v4.00+\n";
    subtitle_encoder->subtitle_header = static_cast<std::uint8_t*>(av_mallocz(head.size() + 1));
    std::ranges::copy(head, subtitle_encoder->subtitle_header);
    subtitle_encoder->subtitle_header_size = static_cast<int>(head.size());
    Dictionary none;
    subtitles = writer.add(*subtitle_encoder, none);
  }
  writer.start();
  for (int i = 0; i < spec.frames; ++i) {
    const FramePtr picture = random_picture(spec.format, spec.width, spec.height, 1000 + i);
    picture->pts = spec.pts.empty() ? i : spec.pts[i];
    picture->color_range = video.encoder->color_range;
    picture->quality = video.encoder->global_quality;
    writer.encode(*video.encoder, *video.stream, picture.get());
  }
  writer.encode(*video.encoder, *video.stream, nullptr);
  if (audio.encoder) write_audio(writer, audio, spec.audio_seconds);
  if (subtitles) write_subtitles(writer, subtitles->index, subtitles->time_base);
  writer.end();
}

namespace {

using Input = std::unique_ptr<AVFormatContext, Releaser<avformat_close_input>>;

Input open_input(const std::string& path) {
  AVFormatContext* context = nullptr;
  Dictionary options;
  require(avformat_open_input(&context, ("file:" + path).c_str(), nullptr, options.address()),
          path);
  Input input(context);
  require(avformat_find_stream_info(context, nullptr), path);
  return input;
}

}  // namespace

std::vector<StreamRecord> read_packets(const std::string& path) {
  const Input input = open_input(path);
  std::vector<StreamRecord> streams;
  for (unsigned i = 0; i < input->nb_streams; ++i) {
    const AVStream& s = *input->streams[i];
    StreamRecord record{s.codecpar->codec_type, s.codecpar->codec_id, {}, {}, s.disposition};
    const AVDictionaryEntry* e = nullptr;
    while ((e = av_dict_get(s.metadata, "", e, AV_DICT_IGNORE_SUFFIX)))
      record.metadata.emplace_back(e->key, e->value);
    streams.push_back(std::move(record));
  }
  for (PacketPtr p = make_packet(); av_read_frame(input.get(), p.get()) >= 0;
       av_packet_unref(p.get())) {
    const AVRational tick = input->streams[p->stream_index]->time_base;
    streams[p->stream_index].packets.push_back({av_rescale_q(p->pts, tick, AV_TIME_BASE_Q),
                                                av_rescale_q(p->dts, tick, AV_TIME_BASE_Q),
                                                hash_of(p->data, p->size)});
  }
  return streams;
}

Decoded decode(const std::string& path) {
  const Input input = open_input(path);
  const int index = av_find_best_stream(input.get(), AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
  require(index, "no video");
  const AVStream& stream = *input->streams[index];
  const CodecPtr decoder(avcodec_alloc_context3(avcodec_find_decoder(stream.codecpar->codec_id)));
  require(avcodec_parameters_to_context(decoder.get(), stream.codecpar), "decoder");
  decoder->pkt_timebase = stream.time_base;
  require(avcodec_open2(decoder.get(), nullptr, nullptr), "decoder");
  Decoded decoded{};
  const auto collect = [&] {
    for (FramePtr f = make_frame(); avcodec_receive_frame(decoder.get(), f.get()) >= 0;) {
      const auto format = static_cast<AVPixelFormat>(f->format);
      Picture picture{static_cast<double>(f->best_effort_timestamp) * av_q2d(stream.time_base), {}};
      picture.bytes.resize(av_image_get_buffer_size(format, f->width, f->height, 1));
      av_image_copy_to_buffer(picture.bytes.data(), static_cast<int>(picture.bytes.size()), f->data,
                              f->linesize, format, f->width, f->height, 1);
      decoded.pictures.push_back(std::move(picture));
      decoded.format = format;
      decoded.width = f->width;
      decoded.height = f->height;
      if (!decoded.first) decoded.first.reset(av_frame_clone(f.get()));
    }
  };
  for (PacketPtr p = make_packet(); av_read_frame(input.get(), p.get()) >= 0;
       av_packet_unref(p.get())) {
    if (p->stream_index != index) continue;
    require(avcodec_send_packet(decoder.get(), p.get()), "decode");
    collect();
  }
  avcodec_send_packet(decoder.get(), nullptr);
  collect();
  return decoded;
}

int transcode(const std::string& from, const std::string& to, const SinkOptions& options) {
  const auto source = open_source(from);
  const auto sink = open_sink(to, *source, options);
  int frames = 0;
  for (; auto frame = source->read(); ++frames) sink->write(*std::move(frame));
  sink->finish();
  return frames;
}

int count_frames(const std::string& path) {
  const auto source = open_source(path);
  int frames = 0;
  while (source->read()) ++frames;
  return frames;
}

std::vector<std::uint8_t> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::string& path, const std::vector<std::uint8_t>& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

}  // namespace lull::io::test
