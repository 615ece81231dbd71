#include "io/demuxer.h"

#include <unistd.h>

#include <filesystem>
#include <string_view>
#include <system_error>

#include "io/container_check.h"

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

void describe_raw(const RawVideo& raw, Dictionary& options) {
  if (av_get_pix_fmt(raw.pix_fmt.c_str()) == AV_PIX_FMT_NONE)
    throw InvalidArgument("no such pixel format: " + raw.pix_fmt);
  if (raw.width < 1 || raw.height < 1)
    throw InvalidArgument("raw video of " + std::to_string(raw.width) + "x" +
                          std::to_string(raw.height) + " (sides are from 1); give --size WxH");
  if (raw.rate.num < 1 || raw.rate.den < 1)
    throw InvalidArgument("raw video at " + std::to_string(raw.rate.num) + "/" +
                          std::to_string(raw.rate.den) + " frames per second; give --rate");
  options.set("pixel_format", raw.pix_fmt);
  options.set("video_size", std::to_string(raw.width) + "x" + std::to_string(raw.height));
  options.set("framerate", std::to_string(raw.rate.num) + "/" + std::to_string(raw.rate.den));
}

}  // namespace

Demuxer::Demuxer(const std::string& path, const SourceOptions& options)
    : path_(path == "-" ? "standard input" : path) {
  if (path == "-") {
    if (isatty(options.descriptor))
      throw InvalidArgument("standard input is a terminal (video is no text); redirect it");
    pipe_ = std::make_unique<InputPipe>(options.descriptor);
  } else {
    open_file();
  }
  open_container(options);
  find_video();
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

void Demuxer::open_container(const SourceOptions& source) {
  Dictionary options;
  if (source.raw) describe_raw(*source.raw, options);
  // A playlist must not reach out of the machine.
  options.set("protocol_whitelist", "file");
  const AVInputFormat* format = wanted_format(source, io());
  AVFormatContext* context = non_null(avformat_alloc_context());
  context->pb = &io();
  // Without a name the content alone decides, and a '%' or '*' in it is no pattern of names.
  const int opened = avformat_open_input(&context, nullptr, format, options.address());
  if (opened < 0) {  // which has freed the context
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
  const std::string cut = pipe_ ? "" : find_truncation(path_, *context);
  if (!cut.empty()) throw BadData("'" + path_ + "' is cut short (" + cut + ")");
  if (!pipe_ && has_more_pages(path_, *context))
    throw BadData("'" + path_ +
                  "' has several pages (FFmpeg reads the first alone); split it first");
  if (avformat_find_stream_info(context, nullptr) < 0)
    throw BadData(with_log("'" + path_ + "' is no video or picture", watch_));
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
  return name.ends_with("_pipe") && name != "gif_pipe";
}

PacketPtr Demuxer::read() {
  for (;;) {
    PacketPtr packet = make_packet();
    const int code = av_read_frame(context_.get(), packet.get());
    if (code == AVERROR(EAGAIN)) continue;
    if (code == AVERROR_EOF) {
      check_end();
      return nullptr;
    }
    if (code < 0) fail_reading(code);
    if (packet->flags & AV_PKT_FLAG_CORRUPT)
      throw BadData(with_log("'" + path_ + "' is damaged or cut short", watch_));
    if (packet->stream_index == video_) {
      last_end_ = packet->pos < 0 ? -1 : packet->pos + packet->size;
      return packet;
    }
    if (context_->streams[packet->stream_index]->discard != AVDISCARD_ALL)
      relay_->put(std::move(packet));
  }
}

void Demuxer::interrupt() noexcept {
  if (pipe_) pipe_->interrupt();
}

void Demuxer::fail_reading(int code) {
  if (io().error < 0 && io().error != AVERROR_EOF)
    throw IoError("cannot read '" + path_ + "' (" + error_text(io().error) + ")");
  throw BadData(
      with_log("'" + path_ + "' is damaged or cut short (" + error_text(code) + ")", watch_));
}

void Demuxer::check_end() {
  if (io().error < 0 && io().error != AVERROR_EOF) fail_reading(io().error);
  // The index of fragments is known by now.
  std::string cut = pipe_ ? find_truncation(*pipe_, *context_) : find_truncation(path_, *context_);
  // Matroska of unknown size: a cluster that breaks off is mentioned, no more.
  if (cut.empty()) cut = watch_.find("File ended prematurely");
  // Y4M: frames follow each other to the very end; the demuxer takes a part of one for the end.
  const std::int64_t size = pipe_ ? pipe_->bytes() : avio_size(io_.get());
  if (std::string_view(context_->iformat->name) == "yuv4mpegpipe" && last_end_ >= 0 &&
      size > last_end_)
    cut = "the last frame is not whole";
  if (!cut.empty()) throw BadData("'" + path_ + "' is cut short (" + cut + ")");
}

}  // namespace lull::io
