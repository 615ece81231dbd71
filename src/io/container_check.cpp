#include "io/container_check.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <vector>

#include "io/file_bytes.h"

namespace lull::io {
namespace {

std::string_view tag(const std::uint8_t* p) { return {reinterpret_cast<const char*>(p), 4}; }

// ISO/IEC 14496-12, 4.2: size, type, and the size in 64 bits where the first is 1. Data of another
// kind may follow the last box, so only boxes of known types count.
std::string check_boxes(Bytes& file) {
  constexpr std::array<std::string_view, 16> known = {
      "ftyp", "moov", "mdat", "moof", "mfra", "free", "skip", "wide",
      "uuid", "sidx", "ssix", "styp", "meta", "prft", "emsg", "pnot"};
  std::uint64_t at = 0;
  for (std::uint8_t head[16]; file.read(at, head, 8);) {
    if (std::ranges::find(known, tag(head + 4)) == known.end()) break;
    std::uint64_t bytes = big_endian(head, 4);
    if (bytes == 0) break;  // up to the end of the file
    if (bytes == 1 && !file.read(at, head, 16)) return "cut inside the head of a box";
    if (bytes == 1) bytes = big_endian(head + 8, 8);
    if (bytes < 8) break;
    if (bytes > file.size() - at) return ends_early(tag(head + 4), at + bytes, file.size());
    at += bytes;
  }
  return {};
}

// RFC 8794, section 4: a number's length is one more than the zero bits before its first one.
struct EbmlNumber {
  std::uint64_t value = 0;
  int bytes = 0;
  bool unknown = false;  // all ones: a size that the writer did not know
};

bool read_number(Bytes& file, std::uint64_t at, bool keep_marker, EbmlNumber& number) {
  std::uint8_t raw[8];
  if (!file.read(at, raw, 1) || raw[0] == 0) return false;
  number.bytes = 1;
  while (!(raw[0] << (number.bytes - 1) & 0x80)) ++number.bytes;
  if (!file.read(at, raw, number.bytes)) return false;
  const std::uint64_t marker = std::uint64_t{1} << (7 * number.bytes);
  number.value = big_endian(raw, number.bytes);
  number.unknown = number.value == 2 * marker - 1;
  if (!keep_marker) number.value -= marker;
  return true;
}

// RFC 9559, section 5: the file is a head and a Segment, which knows its size once finished.
std::string check_segment(Bytes& file) {
  constexpr std::uint64_t segment_id = 0x18538067;
  std::uint64_t at = 0;
  EbmlNumber id, size;
  while (read_number(file, at, true, id) && read_number(file, at + id.bytes, false, size)) {
    at += id.bytes + size.bytes;
    if (size.unknown) break;
    if (size.value > file.size() - at)
      return ends_early("the segment", at + size.value, file.size());
    if (id.value == segment_id) break;
    at += size.value;
  }
  return {};
}

// A RIFF chunk (AVI: the first and then one for each further gigabyte, WebP: one).
std::string check_riff(Bytes& file) {
  std::uint64_t at = 0;
  for (std::uint8_t head[8]; file.read(at, head, 8) && tag(head) == "RIFF";) {
    const std::uint64_t bytes =
        head[4] | head[5] << 8 | head[6] << 16 | std::uint64_t{head[7]} << 24;
    if (bytes == 0 || bytes == 0xffffffff) break;  // never finished, or a stream
    if (bytes > file.size() - at - 8) return ends_early("RIFF", at + 8 + bytes, file.size());
    at += 8 + bytes + bytes % 2;
  }
  return {};
}

// PNG (ISO/IEC 15948), 5.3: signature, then chunks of length, type, data, checksum, up to IEND.
// Several pictures may follow each other; anything else after IEND is not ours to judge.
std::string check_png(Bytes& file) {
  constexpr std::uint64_t signature = 0x89504e470d0a1a0a;
  std::uint64_t at = 0;
  for (std::uint8_t head[8]; file.read(at, head, 8) && big_endian(head, 8) == signature;) {
    at += 8;
    do {
      if (!file.read(at, head, 8)) return "IEND is missing";
      const std::uint64_t bytes = 12 + big_endian(head, 4);
      if (bytes > file.size() - at) return ends_early(tag(head + 4), at + bytes, file.size());
      at += bytes;
    } while (tag(head + 4) != "IEND");
  }
  return {};
}

// Packets of 188 bytes, with a time stamp before (Blu-ray) or a checksum after (DVB) 192 or 204.
std::string check_transport_stream(Bytes& file) {
  for (const int packet : {188, 192, 204})
    if (file.size() % packet == 0) return {};
  return "the last packet is not whole";
}

// Adobe's FLV specification, annex E: each tag (kind, size in 24 bits, ...) is followed by its
// whole size, so that a file can be read from its end.
std::string check_flv(Bytes& file) {
  std::uint8_t raw[4];
  if (!file.read(file.size() - 4, raw, 4)) return "no tag";
  const std::uint64_t bytes = big_endian(raw, 4);
  if (bytes == 0) return {};  // not written by all
  const bool inside = bytes >= 11 && bytes <= file.size() - 4;
  if (!inside || !file.read(file.size() - 4 - bytes, raw, 4) ||
      big_endian(raw + 1, 3) + 11 != bytes)
    return "the last tag is not whole";
  return {};
}

// GIF89a ends with the byte 0x3b; some writers pad with zeros.
std::string check_gif(Bytes& file) {
  std::uint8_t last = 0;
  for (std::uint64_t at = file.size(); at > 0 && last == 0;) file.read(--at, &last, 1);
  return last == 0x3b ? "" : "the trailer is missing";
}

// RFC 3533, section 6: pages of a head, lengths of segments, and the segments. The last page of a
// stream carries a flag.
std::string check_ogg(Bytes& file) {
  constexpr std::uint64_t longest = 27 + 255 + 255 * 255, end_of_stream = 4;
  const std::uint64_t start = file.size() > longest ? file.size() - longest : 0;
  std::vector<std::uint8_t> tail(file.size() - start);
  file.read(start, tail.data(), tail.size());
  for (std::size_t at = tail.size(); at-- > 0;) {
    if (tail.size() - at < 27 || tag(&tail[at]) != "OggS") continue;
    std::size_t end = at + 27 + tail[at + 26];
    for (std::size_t i = at + 27; i < at + 27 + tail[at + 26] && i < tail.size(); ++i)
      end += tail[i];
    return end == tail.size() && tail[at + 5] & end_of_stream ? "" : "the last page is missing";
  }
  return "the last page is missing";
}

// NUT (FFmpeg's specification, "index"): the file ends with the length of its index and a checksum.
// Writers may leave the index out, but FFmpeg, the only one in use, does not.
constexpr std::uint64_t nut_index = 0x4e58dd672f23e64e;

std::string check_nut(Bytes& file) {
  std::uint8_t raw[8];
  const bool whole = file.size() > 12 && file.read(file.size() - 12, raw, 8) &&
                     big_endian(raw, 8) <= file.size() &&
                     file.read(file.size() - big_endian(raw, 8), raw, 8) &&
                     big_endian(raw, 8) == nut_index;
  return whole ? "" : "the index is missing";
}

// The index of MP4 lies in one place, the samples in another.
std::string check_index(const AVFormatContext& context, std::uint64_t size) {
  for (unsigned i = 0; i < context.nb_streams; ++i) {
    const AVStream* stream = context.streams[i];
    const int entries = avformat_index_get_entries_count(stream);
    for (int e = 0; e < entries; ++e) {
      const AVIndexEntry* entry = avformat_index_get_entry(const_cast<AVStream*>(stream), e);
      const auto end = static_cast<std::uint64_t>(entry->pos) + entry->size;
      if (end > size) return ends_early("sample " + std::to_string(e), end, size);
    }
  }
  return {};
}

}  // namespace

std::string find_truncation(const std::string& path, const AVFormatContext& context) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return {};
  Bytes file(path, std::filesystem::file_size(path, ignored));
  const std::string_view name = context.iformat->name;
  if (name.find("mp4") != name.npos) {
    const std::string boxes = check_boxes(file);
    return boxes.empty() ? check_index(context, file.size()) : boxes;
  }
  if (name.find("matroska") != name.npos) return check_segment(file);
  if (name == "avi" || name == "webp_pipe") return check_riff(file);
  if (name == "png_pipe" || name == "apng") return check_png(file);
  if (name == "flv") return check_flv(file);
  if (name == "nut") return check_nut(file);
  if (name == "ogg") return check_ogg(file);
  if (name == "gif") return check_gif(file);
  if (name == "tiff_pipe") return check_tiff(file);
  if (name == "mpegts") return check_transport_stream(file);
  return {};
}

// NUT alone says where it ends: its index does, at the very end. An index that is longer than what
// is kept of the pipe is believed.
std::string find_truncation(const InputPipe& pipe, const AVFormatContext& context) {
  if (std::string_view(context.iformat->name) != "nut") return {};
  const std::string& tail = pipe.tail();
  const std::string missing = "the index is missing";
  if (tail.size() <= 12) return missing;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(tail.data());
  const std::uint64_t length = big_endian(bytes + tail.size() - 12, 8);
  if (length < 8 || length > static_cast<std::uint64_t>(pipe.bytes())) return missing;
  if (length > tail.size()) return {};
  return big_endian(bytes + tail.size() - length, 8) == nut_index ? "" : missing;
}

bool has_more_pages(const std::string& path, const AVFormatContext& context) {
  std::error_code code;
  if (std::string_view(context.iformat->name) != "tiff_pipe") return false;
  Bytes file(path, std::filesystem::file_size(path, code));
  return !code && second_page(file) > 0;
}

}  // namespace lull::io
