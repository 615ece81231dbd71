// The demuxer's way through a sequence: a file is a packet.

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string_view>
#include <system_error>
#include <vector>

#include "io/container_check.h"
#include "io/cut.h"
#include "io/demuxer.h"

namespace lull::io {
namespace {

/// The container that FFmpeg takes a picture's bytes for.
const AVInputFormat* probe_picture(const AVPacket& packet) {
  if (packet.size >= 3 && std::equal(packet.data, packet.data + 3, "P7\n"))
    return av_find_input_format("pam_pipe");
  std::vector<std::uint8_t> head(packet.data, packet.data + std::min(packet.size, 1 << 16));
  AVProbeData data{};
  data.filename = "";
  data.buf_size = static_cast<int>(head.size());
  head.resize(head.size() + AVPROBE_PADDING_SIZE);
  data.buf = head.data();
  return av_probe_input_format(&data, 1);
}

}  // namespace

PacketPtr read_whole_picture(const std::string& path) {
  std::error_code code;
  const std::uintmax_t size = std::filesystem::file_size(path, code);
  if (code) throw NoInput("cannot read '" + path + "' (" + code.message() + ")");
  if (size == 0) throw BadData("'" + path + "' is empty");
  constexpr std::uintmax_t most = std::numeric_limits<int>::max() - AV_INPUT_BUFFER_PADDING_SIZE;
  if (size > most) throw BadData("'" + path + "' is too large for a picture (over 2 GiB)");
  PacketPtr packet = make_packet();
  if (av_new_packet(packet.get(), static_cast<int>(size)) < 0) throw std::bad_alloc();
  std::ifstream file(path, std::ios::binary);
  if (!file) throw NoInput("cannot read '" + path + "' (no such file, or no right to)");
  if (!file.read(reinterpret_cast<char*>(packet->data), packet->size))
    throw IoError("cannot read '" + path + "'");
  packet->pts = 0;
  return packet;
}

void Demuxer::select_files(const SourceOptions& options) {
  if (options.selection.all()) return;
  Cut cut(options.selection, av_inv_q(to_av(options.rate)));
  std::vector<SequenceFile> kept;
  for (std::size_t i = 0; i < sequence_.size(); ++i) {
    auto time = static_cast<std::int64_t>(i);
    if (cut.judge(time, time, 1) == Cut::Verdict::keep) kept.push_back(std::move(sequence_[i]));
  }
  if (kept.empty())
    throw BadData("no frame is selected (the sequence has " + std::to_string(sequence_.size()) +
                  "); give other frames or times");
  sequence_ = std::move(kept);
}

// The first picture says what the others must be.
void Demuxer::check_first(const SourceOptions& options) {
  if (!std::string_view(context_->iformat->name).ends_with("_pipe"))
    throw BadData("'" + path_ + "' is no picture (it is " + context_->iformat->name +
                  ", and a pattern names a sequence of pictures); give one file");
  const AVRational tick{static_cast<int>(options.rate.den), static_cast<int>(options.rate.num)};
  video().time_base = tick;
  video().avg_frame_rate = video().r_frame_rate = av_inv_q(tick);
}

void Demuxer::check_picture(const AVPacket& packet, const std::string& path) const {
  const AVInputFormat* format = probe_picture(packet);
  if (!format || format != context_->iformat)
    throw BadData("'" + path + "' is " + (format ? format->name : "no picture") +
                  " (the sequence began with " + context_->iformat->name +
                  "); make them of one kind");
  const std::string cut = find_truncation(path, *context_);
  if (!cut.empty()) throw BadData("'" + path + "' is cut short (" + cut + ")");
  if (has_more_pages(path, *context_))
    throw BadData("'" + path +
                  "' has several pages (a picture of a sequence has one); split it first");
}

PacketPtr Demuxer::read_picture() {
  if (next_file_ == sequence_.size()) return nullptr;
  const std::string& path = sequence_[next_file_].path;
  PacketPtr packet = read_whole_picture(path);
  check_picture(*packet, path);
  packet->stream_index = video_;
  packet->pts = packet->dts = static_cast<std::int64_t>(next_file_++);
  packet->duration = 1;
  packet->flags |= AV_PKT_FLAG_KEY;
  return packet;
}

}  // namespace lull::io
