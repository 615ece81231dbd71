#include "io/demux/picture_files.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <system_error>

#include "io/demux/container_check.h"
#include "io/demux/frame_selector.h"
#include "io/metadata/multi_picture.h"
#include "io/tiff/tiff_file.h"

namespace lull::io {
namespace {

/// Returns FFmpeg's format for the container of a picture, detected from the bytes.
const AVInputFormat* probe_picture(const AVPacket& packet) {
  const std::span<const std::uint8_t> bytes(packet.data, static_cast<std::size_t>(packet.size));
  if (const AVInputFormat* netpbm = netpbm_format(bytes)) return netpbm;
  if (is_multi_picture(bytes)) return av_find_input_format("jpeg_pipe");
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
  constexpr std::uintmax_t maximum = std::numeric_limits<int>::max() - AV_INPUT_BUFFER_PADDING_SIZE;
  if (size > maximum) throw BadData("'" + path + "' is too large for a picture (over 2 GiB)");
  PacketPtr packet = make_packet();
  if (av_new_packet(packet.get(), static_cast<int>(size)) < 0) throw std::bad_alloc();
  std::ifstream file(path, std::ios::binary);
  if (!file) throw NoInput("cannot read '" + path + "' (no such file, or no permission)");
  if (!file.read(reinterpret_cast<char*>(packet->data), packet->size))
    throw IoError("cannot read '" + path + "'");
  packet->pts = 0;
  return packet;
}

PacketPtr make_empty_packet() {
  PacketPtr packet = make_packet();
  packet->pts = 0;
  return packet;
}

PictureFiles::PictureFiles(const std::string& path, const SourceOptions& options)
    : files_(find_sequence(path)) {
  select(options);
  skip(options);
  const auto selected = std::ranges::count_if(files_, &SequenceFile::selected);
  if (options.limits.frames > 0 && selected > options.limits.frames)
    throw BadData("the sequence has " + std::to_string(selected) + " files (more than " +
                  std::to_string(options.limits.frames) + "); allow it with --max-frames");
}

void PictureFiles::select(const SourceOptions& options) {
  if (options.selection.all()) return;
  FrameSelector selector(options.selection, av_inv_q(to_av(options.rate)));
  for (std::size_t i = 0; i < files_.size(); ++i) {
    auto time = static_cast<std::int64_t>(i);
    files_[i].selected = selector.judge_frame(time, time, 1) == FrameSelector::Verdict::keep;
  }
  if (std::ranges::none_of(files_, &SequenceFile::selected))
    throw BadData("no frame is selected (the sequence has " + std::to_string(files_.size()) +
                  "); give other frames or times");
  if (!options.margins)
    std::erase_if(files_, [](const SequenceFile& file) { return !file.selected; });
}

void PictureFiles::skip(const SourceOptions& options) {
  if (options.skip_us <= 0) return;
  const AVRational rate = to_av(options.rate);
  const std::int64_t files =
      av_rescale(options.skip_us, rate.num, std::int64_t{1000000} * rate.den);
  const auto maximum = static_cast<std::int64_t>(files_.size()) - 1;
  skipped_ = std::clamp<std::int64_t>(files, 0, maximum);
  files_.erase(files_.begin(), files_.begin() + skipped_);
}

void PictureFiles::check(const AVInputFormat* format, const std::string& path,
                         const AVFormatContext& first) const {
  if (!format || format != first.iformat)
    throw BadData("'" + path + "' is " + (format ? format->name : "no picture") +
                  " (the sequence began with " + first.iformat->name + "); use files of one kind");
  const std::string cut = find_truncation(path, first);
  if (!cut.empty()) throw BadData("'" + path + "' is cut short (" + cut + ")");
  if (has_more_pages(path, first))
    throw BadData("'" + path +
                  "' has several pages (a picture of a sequence has one); split it first");
}

bool PictureFiles::seek(std::int64_t time) {
  if (time < skipped_ || time - skipped_ >= static_cast<std::int64_t>(files_.size())) return false;
  next_ = static_cast<std::size_t>(time - skipped_);
  return true;
}

PacketPtr PictureFiles::read(const AVFormatContext& first, PictureReader reader) {
  if (next_ == files_.size()) return nullptr;
  const std::string& path = files_[next_].path;
  PacketPtr packet;
  if (reader == PictureReader::tiff && is_tiff_file(path)) {
    packet = make_empty_packet();
    check(first.iformat, path, first);
  } else {
    packet = read_whole_picture(path);
    check(probe_picture(*packet), path, first);
  }
  packet->pts = packet->dts = skipped_ + static_cast<std::int64_t>(next_++);
  packet->duration = 1;
  packet->flags |= AV_PKT_FLAG_KEY;
  return packet;
}

}  // namespace lull::io
