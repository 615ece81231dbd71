#include "io/demuxer.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "io/container_check.h"
#include "io/float_tiff.h"

namespace lull::io {
namespace {

void check_readable(const std::string& path) {
  std::error_code code;
  const auto status = std::filesystem::status(path, code);
  if (status.type() == std::filesystem::file_type::not_found)
    throw NoInput("cannot read '" + path + "' (no such file)");
  if (code) throw NoInput("cannot read '" + path + "' (" + code.message() + ")");
  if (std::filesystem::is_directory(status))
    throw NoInput("cannot read '" + path + "' (it is a directory)");
}

// FFmpeg does not recognise PAM by its content.
const AVInputFormat* pam_format(AVIOContext& io) {
  std::uint8_t head[3] = {};
  const bool seekable = (io.seekable & AVIO_SEEKABLE_NORMAL) != 0;
  if (!seekable || avio_read(&io, head, 3) < 3) return nullptr;
  avio_seek(&io, 0, SEEK_SET);
  return head[0] == 'P' && head[1] == '7' && head[2] == '\n' ? av_find_input_format("pam_pipe")
                                                             : nullptr;
}

bool is_empty_file(const std::string& path) {
  std::error_code code;
  return std::filesystem::is_regular_file(path, code) &&
         std::filesystem::file_size(path, code) == 0;
}

// Neither a regular file nor a disk: nobody can seek in it.
bool is_pipe(const std::string& path) {
  std::error_code code;
  const auto type = std::filesystem::status(path, code).type();
  return type == std::filesystem::file_type::fifo || type == std::filesystem::file_type::character;
}

/// What the content is taken for; null: FFmpeg looks.
const AVInputFormat* wanted_format(const SourceOptions& options, AVIOContext& io) {
  if (options.raw) return av_find_input_format("rawvideo");
  if (options.format.empty()) return pam_format(io);
  const AVInputFormat* format =
      av_find_input_format(options.format == "y4m" ? "yuv4mpegpipe" : options.format.c_str());
  if (!format || format->flags & AVFMT_NOFILE || format == av_find_input_format("rawvideo"))
    throw InvalidArgument("no such input format: " + options.format +
                          " (FFmpeg reads none of that name from a file); leave it out");
  return format;
}

/// "https" of "https://host/name"; empty: it is no address.
std::string protocol_of(const std::string& path) {
  const std::size_t colon = path.find("://");
  if (colon == std::string::npos || colon == 0) return {};
  const auto is_part = [](unsigned char c) { return std::isalnum(c) || c == '+' || c == '-'; };
  const std::string name = path.substr(0, colon);
  return std::ranges::all_of(name, is_part) ? name : std::string();
}

bool is_address(const std::string& path) {
  std::error_code ignored;
  return !protocol_of(path).empty() && !std::filesystem::exists(path, ignored);
}

void describe_raw(const RawVideo& raw, std::int64_t max_pixels, Dictionary& options) {
  if (av_get_pix_fmt(raw.pix_fmt.c_str()) == AV_PIX_FMT_NONE)
    throw InvalidArgument("no such pixel format: " + raw.pix_fmt);
  if (raw.width < 1 || raw.height < 1)
    throw InvalidArgument("raw video of " + std::to_string(raw.width) + "x" +
                          std::to_string(raw.height) + " (sides are from 1); give --size WxH");
  if (std::int64_t{raw.width} * raw.height > max_pixels)
    throw InvalidArgument("raw video of " + std::to_string(raw.width) + "x" +
                          std::to_string(raw.height) + " (more than " + std::to_string(max_pixels) +
                          " pixels); allow it with --max-pixels");
  options.set("pixel_format", raw.pix_fmt);
  options.set("video_size", std::to_string(raw.width) + "x" + std::to_string(raw.height));
}

}  // namespace

Demuxer::Demuxer(const std::string& path, const SourceOptions& options, DamageCount& damage)
    : path_(path == "-" ? "standard input" : path), damage_(damage) {
  address_ = is_address(path);
  if (path != "-" && !options.raw && !address_ && is_sequence(path)) {
    sequence_ = find_sequence(path);
    damage_.be_strict();
    select_files(options);
    if (options.limits.frames > 0 &&
        static_cast<std::int64_t>(sequence_.size()) > options.limits.frames)
      throw BadData("the sequence has " + std::to_string(sequence_.size()) + " files (more than " +
                    std::to_string(options.limits.frames) + "); allow it with --max-frames");
    path_ = sequence_.front().path;
  }
  if (path == "-") {
    if (isatty(options.descriptor))
      throw InvalidArgument("standard input is a terminal (video is no text); redirect it");
    pipe_ = std::make_unique<InputPipe>(options.descriptor);
  } else if (address_) {
    open_address(options);
  } else {
    open_file();
  }
  open_container(options);
  find_video();
  if (!sequence_.empty()) check_first(options);
}

void Demuxer::open_file() {
  check_readable(path_);
  if (is_pipe(path_)) {
    pipe_ = std::make_unique<InputPipe>(path_);
    return;
  }
  AVIOContext* io = nullptr;
  check<NoInput>(avio_open2(&io, ("file:" + path_).c_str(), AVIO_FLAG_READ, nullptr, nullptr),
                 "cannot read '" + path_ + "'");
  io_.reset(io);
  if (is_empty_file(path_)) throw BadData("'" + path_ + "' is empty");
}

void Demuxer::open_address(const SourceOptions& options) {
  const std::string protocol = protocol_of(path_);
  if (std::ranges::find(options.protocols, protocol) == options.protocols.end())
    throw NoInput("cannot read '" + path_ + "' (the protocol " + protocol +
                  " is not allowed, and no file has that name); allow it with --allow-protocol " +
                  protocol);
  AVIOContext* io = nullptr;
  Dictionary wanted;
  wanted.set("protocol_whitelist", whitelist(options));
  const AVIOInterruptCB callback{&Demuxer::is_interrupted, this};
  check<NoInput>(avio_open2(&io, path_.c_str(), AVIO_FLAG_READ, &callback, wanted.address()),
                 "cannot read '" + path_ + "'");
  io_.reset(io);
}

// What a playlist may reach: files beside it, never the machine's own from elsewhere.
std::string Demuxer::whitelist(const SourceOptions& options) const {
  std::string list = address_ ? "" : "file";
  const auto add = [&](const std::string& name) { list += (list.empty() ? "" : ",") + name; };
  for (const std::string& protocol : options.protocols) {
    add(protocol);
    if (protocol == "http" || protocol == "https") add("tcp");  // what they are made of
    if (protocol == "https") add("tls");
  }
  return list;
}

int Demuxer::is_interrupted(void* self) { return static_cast<Demuxer*>(self)->interrupted_; }

void Demuxer::open_container(const SourceOptions& source) {
  Dictionary options;
  if (source.raw) describe_raw(*source.raw, source.limits.pixels, options);
  if (source.raw || !sequence_.empty())
    options.set("framerate",
                std::to_string(source.rate.num) + "/" + std::to_string(source.rate.den));
  // A playlist must not reach out of the machine.
  options.set("protocol_whitelist", whitelist(source));
  const AVInputFormat* format = wanted_format(source, io());
  AVFormatContext* context = non_null(avformat_alloc_context());
  context->pb = &io();
  context->max_streams = source.limits.streams;
  context->interrupt_callback = {&Demuxer::is_interrupted, this};
  // Without a name the content alone decides, and a '%' or '*' in it is no pattern of names.
  const int opened = avformat_open_input(&context, nullptr, format, options.address());
  if (opened < 0) {  // which has freed the context
    if (!watch_.find("exceeds max_streams").empty()) fail_streams(source.limits);
    if (pipe_ && pipe_->bytes() == 0) throw BadData("'" + path_ + "' is empty");
    // MP4 is indexed at its end more often than not.
    const bool mp4 = !watch_.find("moov").empty();
    const std::string cut = mp4 ? " or cut short" : "";
    throw BadData(with_log("'" + path_ + "' is no video or picture" + cut, watch_));
  }
  context_.reset(context);
  // Text passes for ANSI art.
  if (std::string_view(context->iformat->name) == "tty")
    throw BadData("'" + path_ + "' is no video or picture (it is text)");
  const std::string cut = pipe_ ? "" : find_truncation(path_, *context_);
  if (!cut.empty()) damage_.cut("'" + path_ + "' is cut short (" + cut + ")");
  if (!pipe_ && has_more_pages(path_, *context_))
    throw BadData("'" + path_ +
                  "' has several pages (FFmpeg reads the first alone); split it first");
  float_tiff_ =
      !pipe_ && std::string_view(context->iformat->name) == "tiff_pipe" && is_float_tiff(path_);
  if (float_tiff_) return;  // FFmpeg knows no such samples
  find_streams(source.limits);
}

// FFmpeg decodes some frames here: within the limits, too.
void Demuxer::find_streams(const Limits& limits) {
  check_sizes(limits);
  const unsigned known = context_->nb_streams;
  std::vector<AVDictionary*> options(known, nullptr);
  for (AVDictionary*& entry : options)
    av_dict_set(&entry, "max_pixels", std::to_string(limits.pixels).c_str(), 0);
  const int code =
      avformat_find_stream_info(context_.get(), options.empty() ? nullptr : options.data());
  for (AVDictionary*& entry : options) av_dict_free(&entry);
  check_sizes(limits);
  if (code < 0) throw BadData(with_log("'" + path_ + "' is no video or picture", watch_));
}

void Demuxer::fail_streams(const Limits& limits) const {
  throw BadData("'" + path_ + "' has more than " + std::to_string(limits.streams) +
                " streams; allow it with --max-streams");
}

void Demuxer::check_sizes(const Limits& limits) const {
  if (static_cast<std::int64_t>(context_->nb_streams) > limits.streams ||
      !watch_.find("exceeds max_streams").empty())
    fail_streams(limits);
  bool large = !watch_.find("exceeds specified max pixel count").empty();
  for (unsigned i = 0; i < context_->nb_streams; ++i) {
    const AVCodecParameters& codec = *context_->streams[i]->codecpar;
    large |= codec.codec_type == AVMEDIA_TYPE_VIDEO && codec.width > 0 && codec.height > 0 &&
             std::int64_t{codec.width} * codec.height > limits.pixels;
  }
  if (large)
    throw BadData("'" + path_ + "' has more than " + std::to_string(limits.pixels) +
                  " pixels in a frame; allow it with --max-pixels");
}

void Demuxer::find_video() {
  video_ = av_find_best_stream(context_.get(), AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
  if (video_ >= 0 && !(video().disposition & AV_DISPOSITION_ATTACHED_PIC)) return;
  throw BadData(
      "'" + path_ + "' has no video stream (it is " +
      (context_->iformat->long_name ? context_->iformat->long_name : context_->iformat->name) +
      ")");
}

bool Demuxer::holds_pictures() const {
  const std::string_view name = context_->iformat->name;
  return sequence_.empty() && name.ends_with("_pipe") && name != "gif_pipe";
}

PacketPtr Demuxer::read() {
  if (!sequence_.empty()) return read_picture();
  if (float_tiff_) return next_file_++ == 0 ? read_whole_picture(path_) : nullptr;
  for (;;) {
    PacketPtr packet = make_packet();
    const int code = av_read_frame(context_.get(), packet.get());
    if (code == AVERROR(EAGAIN)) continue;
    if (code == AVERROR_EOF) {
      check_end();
      return nullptr;
    }
    if (code < 0) {
      if (go_on_after(code)) continue;
      return nullptr;
    }
    failures_ = 0;
    count_damage(*packet);
    note_time(*packet);
    if (packet->stream_index == video_) {
      last_end_ = packet->pos < 0 ? -1 : packet->pos + packet->size;
      return packet;
    }
    if (context_->streams[packet->stream_index]->discard != AVDISCARD_ALL)
      relay_->put(std::move(packet));
  }
}

// What damage is passed over: whether to try again. Some demuxers find a place to go on from.
bool Demuxer::go_on_after(int code) {
  check_io();
  constexpr int attempts = 100;
  const std::string text = "'" + path_ + "' is damaged or cut short (" + error_text(code) + ")";
  if (interrupted_) throw IoError(text);
  if (failures_++ == 0) damage_.frame(with_log(text, watch_), AV_NOPTS_VALUE);
  return code == AVERROR_INVALIDDATA && failures_ < attempts;
}

void Demuxer::count_damage(const AVPacket& packet) {
  const bool is_video = packet.stream_index == video_;
  if (packet.flags & AV_PKT_FLAG_CORRUPT) {
    const std::string text = with_log("'" + path_ + "' is damaged or cut short", watch_);
    is_video ? damage_.packet(text, packet.pts) : damage_.frame(text, AV_NOPTS_VALUE);
  } else if (is_video) {
    damage_.whole_packet();
  }
}

void Demuxer::note_time(const AVPacket& packet) {
  const std::int64_t time = packet.dts != AV_NOPTS_VALUE ? packet.dts : packet.pts;
  const auto stream = static_cast<std::size_t>(packet.stream_index);
  if (reached_.size() <= stream) reached_.resize(stream + 1, INT64_MIN);
  if (time != AV_NOPTS_VALUE) reached_[stream] = std::max(reached_[stream], time);
}

// Sound comes all the time; other streams need not come at all, so the video's times stand for
// them.
bool Demuxer::others_reached(std::int64_t end) const {
  constexpr std::int64_t patience_s = 10;  // beyond that a stream of sound has ended
  const AVRational tick = video().time_base;
  const auto passed = [&](int stream, std::int64_t more) {
    const auto i = static_cast<std::size_t>(stream);
    return i < reached_.size() && reached_[i] != INT64_MIN &&
           av_compare_ts(reached_[i], context_->streams[i]->time_base, end + more, tick) >= 0;
  };
  if (passed(video_, av_rescale_q(patience_s, {1, 1}, tick))) return true;
  bool sound = false;
  for (unsigned i = 0; i < context_->nb_streams; ++i) {
    const AVStream& stream = *context_->streams[i];
    if (stream.codecpar->codec_type != AVMEDIA_TYPE_AUDIO || stream.discard == AVDISCARD_ALL)
      continue;
    sound = true;
    if (!passed(static_cast<int>(i), 0)) return false;
  }
  return sound || passed(video_, 0);
}

void Demuxer::read_others_until(std::int64_t end) {
  if (!sequence_.empty() || context_->nb_streams < 2) return;
  while (!others_reached(end) && !relay_->closed())
    if (!read()) return;
}

void Demuxer::interrupt() noexcept {
  interrupted_ = true;
  if (pipe_) pipe_->interrupt();
}

void Demuxer::check_io() const {
  if (io().error < 0 && io().error != AVERROR_EOF)
    throw IoError("cannot read '" + path_ + "' (" + error_text(io().error) + ")");
}

void Demuxer::check_end() {
  check_io();
  // The index of fragments is known by now.
  std::string cut = pipe_ ? find_truncation(*pipe_, *context_) : find_truncation(path_, *context_);
  // Matroska of unknown size: a cluster that breaks off is mentioned, no more.
  if (cut.empty()) cut = watch_.find("File ended prematurely");
  // Y4M: frames follow each other to the very end; the demuxer takes a part of one for the end.
  const std::int64_t size = pipe_ ? pipe_->bytes() : avio_size(io_.get());
  if (std::string_view(context_->iformat->name) == "yuv4mpegpipe" && last_end_ >= 0 &&
      size > last_end_)
    cut = "the last frame is not whole";
  if (!cut.empty()) damage_.cut("'" + path_ + "' is cut short (" + cut + ")");
}

}  // namespace lull::io
