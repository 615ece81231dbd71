#include "io/demuxer.h"

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

}  // namespace

Demuxer::Demuxer(const std::string& path, DamageCount& damage) : path_(path), damage_(damage) {
  check_readable(path);
  AVIOContext* io = nullptr;
  check<NoInput>(avio_open2(&io, ("file:" + path).c_str(), AVIO_FLAG_READ, nullptr, nullptr),
                 "cannot read '" + path + "'");
  io_.reset(io);
  if (is_empty_file(path)) throw BadData("'" + path + "' is empty");
  open_container();
  find_video();
}

void Demuxer::open_container() {
  AVFormatContext* context = non_null(avformat_alloc_context());
  context->pb = io_.get();
  Dictionary options;
  // A playlist must not reach out of the machine.
  options.set("protocol_whitelist", "file");
  // Without a name the content alone decides, and a '%' or '*' in it is no pattern of names.
  const int opened = avformat_open_input(&context, nullptr, pam_format(*io_), options.address());
  if (opened < 0) {  // which has freed the context
    // MP4 is indexed at its end more often than not.
    const bool mp4 = !watch_.find("moov").empty();
    const std::string cut = mp4 ? " or cut short" : "";
    throw BadData(with_log("'" + path_ + "' is no video or picture" + cut, watch_));
  }
  context_.reset(context);
  // Text passes for ANSI art.
  if (std::string_view(context->iformat->name) == "tty")
    throw BadData("'" + path_ + "' is no video or picture (it is text)");
  const std::string cut = find_truncation(path_, *context);
  if (!cut.empty()) damage_.cut("'" + path_ + "' is cut short (" + cut + ")");
  if (has_more_pages(path_, *context))
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
    if (code < 0) {
      check_io();
      // Some demuxers find a place to go on from.
      constexpr int attempts = 100;
      if (failures_++ == 0) damage_.frame(reading_failed(code), AV_NOPTS_VALUE);
      if (code == AVERROR_INVALIDDATA && failures_ < attempts) continue;
      return nullptr;
    }
    failures_ = 0;
    const bool is_video = packet->stream_index == video_;
    if (packet->flags & AV_PKT_FLAG_CORRUPT) {
      const std::string text = with_log("'" + path_ + "' is damaged or cut short", watch_);
      is_video ? damage_.packet(text, packet->pts) : damage_.frame(text, AV_NOPTS_VALUE);
    } else if (is_video) {
      damage_.whole_packet();
    }
    if (is_video) {
      last_end_ = packet->pos < 0 ? -1 : packet->pos + packet->size;
      return packet;
    }
    if (context_->streams[packet->stream_index]->discard != AVDISCARD_ALL)
      relay_->put(std::move(packet));
  }
}

void Demuxer::check_io() const {
  if (io_->error < 0 && io_->error != AVERROR_EOF)
    throw IoError("cannot read '" + path_ + "' (" + error_text(io_->error) + ")");
}

std::string Demuxer::reading_failed(int code) const {
  return with_log("'" + path_ + "' is damaged or cut short (" + error_text(code) + ")", watch_);
}

void Demuxer::check_end() {
  check_io();
  std::string cut = find_truncation(path_, *context_);  // the index of fragments is known by now
  // Matroska of unknown size: a cluster that breaks off is mentioned, no more.
  if (cut.empty()) cut = watch_.find("File ended prematurely");
  // Y4M: frames follow each other to the very end; the demuxer takes a part of one for the end.
  const std::int64_t size = avio_size(io_.get());
  if (std::string_view(context_->iformat->name) == "yuv4mpegpipe" && last_end_ >= 0 &&
      size > last_end_)
    cut = "the last frame is not whole";
  if (!cut.empty()) damage_.cut("'" + path_ + "' is cut short (" + cut + ")");
}

}  // namespace lull::io
