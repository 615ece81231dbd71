#include "io/demux/demuxer.h"

#include <algorithm>
#include <string_view>

#include "io/demux/container_check.h"

namespace lull::io {
namespace {

/// Returns the files that match the pattern `path`; empty if `path` is not a pattern.
PictureFiles files_of(const std::string& path, const SourceOptions& options) {
  const bool one = path == "-" || options.raw || is_address(path) || !is_sequence(path);
  return one ? PictureFiles() : PictureFiles(path, options);
}

constexpr std::int64_t max_missing = 100000;  // in frames; a larger number means a wrong timestamp

}  // namespace

Demuxer::Demuxer(const std::string& path, const SourceOptions& options, DamageCount& damage)
    : damage_(damage),
      files_(files_of(path, options)),
      bytes_(files_.empty() ? path : files_.list().front().path, options),
      container_([&]() -> InputContainer {
        const LogTopic::Scope scope(log_);
        if (!files_.empty()) damage_.make_strict();
        return {bytes_, options, !files_.empty(), log_, damage_};
      }()),
      clock_(container_.context(), container_.video().index, options.keep_times),
      relay_(std::make_shared<PacketRelay>(PacketRelay::memory_limit(options.limits.memory),
                                           options.scratch)) {
  if (!files_.empty())
    init_sequence(options);
  else if (options.skip_us > 0)
    skip_to(options.skip_us);
  else
    walk_ = open_container_walk(this->path(), context().iformat->name, video().index);
}

// Prepares the stream of a picture sequence. Timestamps are frame numbers.
void Demuxer::init_sequence(const SourceOptions& options) {
  const std::string_view name = context().iformat->name;
  if (!name.ends_with("_pipe"))
    throw BadData("'" + path() + "' is no picture (it is " + std::string(name) +
                  ", and a pattern names a sequence of pictures); give one file");
  const AVRational tick{static_cast<int>(options.rate.den), static_cast<int>(options.rate.num)};
  video().time_base = tick;
  video().avg_frame_rate = video().r_frame_rate = av_inv_q(tick);
}

// Seeks to the time `time_us`, in microseconds after the first frame.
// @throws InvalidArgument  the input cannot seek, or the position after a seek would be unknown
void Demuxer::skip_to(std::int64_t time_us) {
  const LogTopic::Scope scope(log_);
  const AVStream& stream = video();
  const std::int64_t start = stream.start_time == AV_NOPTS_VALUE ? 0 : stream.start_time;
  const std::int64_t time = start + av_rescale_q(time_us, {1, 1000000}, stream.time_base);
  const bool timeless = (context().iformat->flags & AVFMT_NOTIMESTAMPS) != 0;
  if (timeless || bytes_.pipe() ||
      avformat_seek_file(&context(), stream.index, INT64_MIN, time, time, 0) < 0)
    throw InvalidArgument("'" + path() + "' cannot be read from its middle; read all of it");
}

bool Demuxer::seek(std::int64_t time) {
  const LogTopic::Scope scope(log_);
  failures_ = 0;
  last_end_ = -1;
  ended_ = is_cut_ = false;
  clock_.restart();
  walk_.reset();
  if (!files_.empty()) return files_.seek(time);
  if (bytes_.pipe() || reads_whole_files()) return false;
  return avformat_seek_file(&context(), video().index, INT64_MIN, time, time, 0) >= 0;
}

bool Demuxer::holds_pictures() const {
  const std::string_view name = context().iformat->name;
  return files_.empty() && name.ends_with("_pipe") && name != "gif_pipe";
}

void Demuxer::note_size(int width, int height) {
  AVCodecParameters& codec = *video().codecpar;
  if (codec.width > 0) return;
  codec.width = width;
  codec.height = height;
}

bool Demuxer::has_rising_times() const {
  const std::string_view name = context().iformat->name;
  return files_.empty() && (name.starts_with("matroska") || name == "nut");
}

PacketPtr Demuxer::read() {
  const LogTopic::Scope scope(log_);
  if (!files_.empty()) {
    PacketPtr packet = files_.read(context(), reader());
    if (packet) packet->stream_index = video().index;
    return packet;
  }
  if (reads_whole_files() || container_.is_multi_picture()) {
    if (std::exchange(file_read_, true)) return nullptr;
    return reader() == PictureReader::tiff ? make_empty_packet() : read_whole_picture(path());
  }
  while (PacketPtr packet = read_next()) {
    check_structure(*packet);
    count_damage(*packet);
    times_.note(*packet);
    if (packet->stream_index == video().index) {
      last_end_ = packet->pos < 0 ? -1 : packet->pos + packet->size;
      return packet;
    }
    forward(std::move(packet));
  }
  return nullptr;
}

/// Returns the next packet of any stream, with continuous timestamps; null at the end of the
/// input.
PacketPtr Demuxer::read_next() {
  for (;;) {
    if (PacketPtr packet = clock_.pop()) return packet;
    if (ended_) {
      if (!is_cut_) check_end();
      return nullptr;
    }
    read_from_container();
  }
}

void Demuxer::read_from_container() {
  PacketPtr packet = make_packet();
  const int code = av_read_frame(&context(), packet.get());
  if (code == AVERROR(EAGAIN)) return;
  if (code >= 0) {
    failures_ = 0;
    return clock_.push(std::move(packet));
  }
  if (code != AVERROR_EOF && can_continue_after(code)) return;
  is_cut_ = code != AVERROR_EOF;
  ended_ = true;
  clock_.finish();
}

bool Demuxer::is_heif() const {
  constexpr std::string_view brands[] = {"avif", "mif1", "heic", "heix"};
  const AVDictionaryEntry* brand = av_dict_get(context().metadata, "major_brand", nullptr, 0);
  return brand && std::ranges::find(brands, brand->value) != std::end(brands);
}

void Demuxer::forward(PacketPtr packet) {
  const AVStream& stream = *context().streams[packet->stream_index];
  if (stream.discard == AVDISCARD_ALL) return;
  edit_list_filter_.filter(std::move(packet), stream,
                           [this](PacketPtr stays) { relay_->put(std::move(stays)); });
}

// Counts a read error as damage. Returns whether the demuxer may continue at a later position.
bool Demuxer::can_continue_after(int code) {
  bytes_.check();
  constexpr int attempts = 100;
  const std::string text = "'" + path() + "' is damaged or cut short (" + error_text(code) + ")";
  if (bytes_.interrupted()) throw IoError(text);
  if (failures_++ == 0) damage_.add_frame(with_log(text, container_.said()), AV_NOPTS_VALUE);
  return code == AVERROR_INVALIDDATA && failures_ < attempts;
}

void Demuxer::count_damage(const AVPacket& packet) {
  const bool is_video = packet.stream_index == video().index;
  if (packet.flags & AV_PKT_FLAG_CORRUPT) {
    const std::string text =
        with_log("'" + path() + "' is damaged or cut short", container_.said());
    is_video ? damage_.add_packet(text, packet.pts) : damage_.add_frame(text, AV_NOPTS_VALUE);
  } else if (is_video) {
    damage_.add_intact_packet();
  }
}

void Demuxer::check_structure(const AVPacket& packet) {
  if (walk_ && packet.pos >= 0)
    walk_->walk_to(static_cast<std::uint64_t>(packet.pos + packet.size));
  if (packet.stream_index != video().index) return;
  const std::int64_t time = packet.dts != AV_NOPTS_VALUE ? packet.dts : packet.pts;
  if (packet.duration > 0) duration_ = packet.duration;
  if (first_time_ == AV_NOPTS_VALUE) first_time_ = time;
  // The timestamps before and after the fault show how many frames are missing.
  note_faults(frames_between(last_time_, time) - 1);
  last_time_ = time;
  ++packets_;
}

/// Returns the number of video frames between two timestamps; 0 if unknown.
std::int64_t Demuxer::frames_between(std::int64_t from, std::int64_t to) const {
  const AVRational rate = video().avg_frame_rate;
  const std::int64_t duration = duration_ > 0  ? duration_
                                : rate.num > 0 ? av_rescale_q(1, av_inv_q(rate), video().time_base)
                                               : 0;
  if (from == AV_NOPTS_VALUE || to == AV_NOPTS_VALUE || duration <= 0) return 0;
  return (to - from + duration / 2) / duration;
}

/// Counts new faults in the structure of the input. `missing` is the number of missing frames at
/// the faults, computed from the timestamps.
void Demuxer::note_faults(std::int64_t missing) {
  if (!walk_ || walk_->faults() == faults_) return;
  lost_ += std::max(walk_->faults() - faults_, std::min(missing, max_missing));
  faults_ = walk_->faults();
  damage_.add_structure_faults(lost_, "'" + path() + "' is damaged (" + walk_->first_fault() + ")");
}

void Demuxer::read_others_until(std::int64_t end) {
  if (!files_.empty() || context().nb_streams < 2) return;
  while (!times_.others_reached(context(), video().index, end) && !relay_->closed())
    if (!read()) return;
}

void Demuxer::check_end() {
  bytes_.check();
  // This check must wait for the end of the input: in fragmented MP4, the index is complete only at
  // the end.
  const InputPipe* pipe = bytes_.pipe();
  std::string cut = pipe ? find_truncation(*pipe, context()) : find_truncation(path(), context());
  // If a Matroska file does not state the size of its segment, only FFmpeg's log reports a
  // truncated cluster.
  if (cut.empty()) cut = container_.said().find("File ended prematurely");
  // FFmpeg's Y4M demuxer does not report an incomplete frame at the end of the file.
  if (std::string_view(context().iformat->name) == "yuv4mpegpipe" && last_end_ >= 0 &&
      bytes_.size() > last_end_)
    cut = "the last frame is incomplete";
  if (!cut.empty()) damage_.add_truncation("'" + path() + "' is cut short (" + cut + ")");
  if (!walk_) return;
  walk_->walk_to_end();
  note_faults(0);
  if (faults_ == 0) return;
  // `expected` is the number of video packets of the undamaged input. The structure check counts
  // these packets in some formats. In other formats, the function computes the number from the time
  // stamps, provided that the timestamps rise.
  const std::int64_t expected = walk_->video_packets().value_or(
      has_rising_times() ? frames_between(first_time_, last_time_) + 1 : packets_);
  const std::int64_t missing = std::clamp<std::int64_t>(expected - packets_, 0, max_missing);
  damage_.add_structure_faults(std::max(lost_, faults_ + missing),
                               "'" + path() + "' is damaged (" + walk_->first_fault() + ")");
}

}  // namespace lull::io
