#include "io/demux/container_check.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <vector>

#include "io/containers/ebml.h"
#include "io/files/file_bytes.h"
#include "io/tiff/tiff_file.h"

namespace lull::io {
namespace {

std::string_view tag(const std::uint8_t* p) { return {reinterpret_cast<const char*>(p), 4}; }

// Checks whether the boxes of an MP4 file are complete (ISO/IEC 14496-12, 4.2). The check ends at
// the first box of unknown type, because other data may follow the last box.
std::string check_boxes(FileBytes& file) {
  constexpr std::array<std::string_view, 16> known = {
      "ftyp", "moov", "mdat", "moof", "mfra", "free", "skip", "wide",
      "uuid", "sidx", "ssix", "styp", "meta", "prft", "emsg", "pnot"};
  std::uint64_t at = 0;
  for (std::uint8_t head[16]; file.read(at, head, 8);) {
    if (std::ranges::find(known, tag(head + 4)) == known.end()) break;
    std::uint64_t bytes = big_endian(head, 4);
    if (bytes == 0) break;  // the box extends to the end of the file
    if (bytes == 1 && !file.read(at, head, 16)) return "cut inside the header of a box";
    if (bytes == 1) bytes = big_endian(head + 8, 8);
    if (bytes < 8) break;
    if (bytes > file.size() - at) return truncation_text(tag(head + 4), at + bytes, file.size());
    at += bytes;
  }
  return {};
}

// Checks whether the Segment element of a Matroska file is complete (RFC 9559, section 5).
std::string check_segment(FileBytes& file) {
  constexpr std::uint64_t segment_id = 0x18538067;
  EbmlElement element;
  for (std::uint64_t at = 0; read_ebml_element(file, at, element); at = element.end()) {
    if (element.unknown_size) break;
    if (element.size > file.size() - element.data)
      return truncation_text("the segment", element.end(), file.size());
    if (element.id == segment_id) break;
  }
  return {};
}

// Checks whether the chunks of a RIFF file are complete. An AVI file has one RIFF chunk for each
// gigabyte.
std::string check_riff(FileBytes& file) {
  std::uint64_t at = 0;
  for (std::uint8_t head[8]; file.read(at, head, 8) && tag(head) == "RIFF";) {
    const std::uint64_t bytes =
        head[4] | head[5] << 8 | head[6] << 16 | std::uint64_t{head[7]} << 24;
    if (bytes == 0 || bytes == 0xffffffff) break;  // the file is not finished, or it is a stream
    if (bytes > file.size() - at - 8) return truncation_text("RIFF", at + 8 + bytes, file.size());
    at += 8 + bytes + bytes % 2;
  }
  return {};
}

// Checks whether each picture of a PNG file is complete up to the chunk IEND (ISO/IEC 15948, 5.3).
std::string check_png(FileBytes& file) {
  constexpr std::uint64_t signature = 0x89504e470d0a1a0a;
  std::uint64_t at = 0;
  for (std::uint8_t head[8]; file.read(at, head, 8) && big_endian(head, 8) == signature;) {
    at += 8;
    do {
      if (!file.read(at, head, 8)) return "IEND is missing";
      const std::uint64_t bytes = 12 + big_endian(head, 4);
      if (bytes > file.size() - at) return truncation_text(tag(head + 4), at + bytes, file.size());
      at += bytes;
    } while (tag(head + 4) != "IEND");
  }
  return {};
}

/// Maximum number of bytes after the last packet or page of a complete file, such as padding or
/// tags of other programs.
constexpr std::uint64_t max_trailing_bytes = 1 << 16;

// Checks whether the last packet of an MPEG-TS file is complete. The stride of packets is 188
// bytes, 192 bytes (Blu-ray, with timestamps) or 204 bytes (DVB, with checksums).
std::string check_transport_stream(FileBytes& file) {
  constexpr std::size_t sync = 0x47, packet = 188, in_a_row = 5;
  const std::uint64_t start = file.size() > max_trailing_bytes + in_a_row * 204
                                  ? file.size() - max_trailing_bytes - in_a_row * 204
                                  : 0;
  std::vector<std::uint8_t> tail(file.size() - start);
  file.read(start, tail.data(), tail.size());
  const auto is_packet = [&](std::size_t at, std::size_t distance) {
    for (std::size_t i = 0; i < in_a_row; ++i)
      if (i * distance > at || tail[at - i * distance] != sync) return false;
    return true;
  };
  for (std::size_t at = tail.size(); at-- > 0;)
    for (const std::size_t distance : {packet, packet + 4, packet + 16})
      if (is_packet(at, distance))
        return tail.size() - at >= packet ? "" : "the last packet is incomplete";
  return {};
}

// Checks whether the last tag of an FLV file is complete. The size of a tag follows the tag
// (Adobe's FLV specification, annex E).
std::string check_flv(FileBytes& file) {
  constexpr int sound = 8, video = 9, script = 18;
  const std::string cut = "the last tag is incomplete";
  std::uint8_t head[11];
  if (!file.read(5, head, 4) || file.size() < 13) return "no tag";
  const std::uint64_t first = big_endian(head, 4) + 4;
  // If the last four bytes of the file are the size of the last tag, as in most FLV files, this tag
  // is complete. Otherwise, the function reads all tags from the beginning.
  file.read(file.size() - 4, head, 4);
  const std::uint64_t last = big_endian(head, 4);
  if (last >= 11 && last <= file.size() - 4 && file.read(file.size() - 4 - last, head, 4) &&
      big_endian(head + 1, 3) + 11 == last)
    return {};
  std::uint64_t at = first;
  while (at < file.size()) {
    if (!file.read(at, head, 1)) return cut;
    const int kind = head[0] & 0x1f;
    if (kind != sound && kind != video && kind != script) return {};  // other data
    if (!file.read(at, head, 11)) return cut;
    if (big_endian(head + 8, 3) != 0) return {};
    at += 11 + big_endian(head + 1, 3) + 4;
  }
  return at == file.size() ? "" : cut;
}

// Checks whether a GIF file is complete up to the trailer (GIF89a, appendix B).
std::string check_gif(FileBytes& file) {
  const std::string cut = "the trailer is missing";
  const auto table = [](std::uint8_t flags) -> std::uint64_t {
    return flags & 0x80 ? std::uint64_t{3} << ((flags & 7) + 1) : 0;
  };
  std::uint8_t head[10];
  if (!file.read(0, head, 10) || !file.read(10, head, 1)) return cut;
  std::uint64_t at = 13 + table(head[0]);
  const auto skip_blocks = [&] {  // blocks of up to 255 bytes; the last one is empty
    for (std::uint8_t bytes = 1; bytes > 0; at += 1 + bytes)
      if (!file.read(at, &bytes, 1)) return false;
    return true;
  };
  for (std::uint8_t kind = 0; file.read(at++, &kind, 1);) {
    if (kind == 0x21) {  // an extension: skips the byte with its kind
      at += 1;
    } else if (kind == 0x2c) {  // a picture: position, size, colour table, code size
      if (!file.read(at + 8, head, 1)) return cut;
      at += 9 + table(head[0]) + 1;
    } else {
      return {};  // the trailer (0x3b), or data that the decoder must check
    }
    if (!skip_blocks()) return cut;
  }
  return cut;
}

// Checks whether an Ogg file ends with a complete page that has the end-of-stream flag (RFC 3533,
// section 6).
std::string check_ogg(FileBytes& file) {
  constexpr std::uint64_t longest = 27 + 255 + 255 * 255, end_of_stream = 4;
  const std::string missing = "the last page is missing";
  const std::uint64_t start =
      file.size() > longest + max_trailing_bytes ? file.size() - longest - max_trailing_bytes : 0;
  std::vector<std::uint8_t> tail(file.size() - start);
  file.read(start, tail.data(), tail.size());
  for (std::size_t at = tail.size(); at-- > 0;) {
    if (tail.size() - at < 4 || tag(&tail[at]) != "OggS") continue;
    if (tail.size() - at < 27) return missing;
    std::size_t end = at + 27 + tail[at + 26];
    for (std::size_t i = at + 27; i < at + 27 + tail[at + 26] && i < tail.size(); ++i)
      end += tail[i];
    return end <= tail.size() && tail[at + 5] & end_of_stream ? "" : missing;
  }
  return missing;
}

// A NUT file ends with the length of its index and a checksum. The index is optional, but FFmpeg
// always writes it.
constexpr std::uint64_t nut_index = 0x4e58dd672f23e64e;

std::string check_nut(FileBytes& file) {
  std::uint8_t raw[8];
  const bool whole = file.size() > 12 && file.read(file.size() - 12, raw, 8) &&
                     big_endian(raw, 8) <= file.size() &&
                     file.read(file.size() - big_endian(raw, 8), raw, 8) &&
                     big_endian(raw, 8) == nut_index;
  return whole ? "" : "the index is missing";
}

// Checks whether an MP4 file contains all samples that its index lists. A truncated file can have a
// complete index at the beginning.
std::string check_index(const AVFormatContext& context, std::uint64_t size) {
  for (unsigned i = 0; i < context.nb_streams; ++i) {
    const AVStream* stream = context.streams[i];
    const int entries = avformat_index_get_entries_count(stream);
    for (int e = 0; e < entries; ++e) {
      const AVIndexEntry* entry = avformat_index_get_entry(const_cast<AVStream*>(stream), e);
      const auto end = static_cast<std::uint64_t>(entry->pos) + entry->size;
      if (end > size) return truncation_text("sample " + std::to_string(e), end, size);
    }
  }
  return {};
}

}  // namespace

std::string find_truncation(const std::string& path, const AVFormatContext& context) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return {};
  FileBytes file(path, std::filesystem::file_size(path, ignored));
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
  if (name == "tiff_pipe") return find_tiff_truncation(path);
  if (name == "mpegts") return check_transport_stream(file);
  return {};
}

// Checks whether a NUT input from a pipe is complete, that is, whether it ends with the index. If
// the index exceeds the part of the input that lull keeps in memory, the function treats the input
// as complete. It also treats inputs of other formats as complete.
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
  return std::string_view(context.iformat->name) == "tiff_pipe" && has_more_tiff_pages(path);
}

}  // namespace lull::io
