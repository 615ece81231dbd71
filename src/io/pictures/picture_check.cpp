#include "io/pictures/picture_check.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "io/files/file_bytes.h"
#include "io/files/inflated_size.h"

namespace lull::io {
namespace {

constexpr std::array<std::uint8_t, 8> png_signature = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

bool begins_with_png_signature(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= png_signature.size() &&
         std::ranges::equal(bytes.first(png_signature.size()), png_signature);
}

std::string_view text_of(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Returns the compressed data of a PNG chunk of type iCCP, zTXt or iTXt (ISO/IEC 15948, 11.3.3.3
/// and 11.3.4); empty for other chunks.
std::span<const std::uint8_t> compressed_part(std::string_view type,
                                              std::span<const std::uint8_t> data) {
  const auto skip_text = [&] {
    const auto zero = std::ranges::find(data, 0);
    data = {zero == data.end() ? zero : zero + 1, data.end()};
  };
  if (type != "iCCP" && type != "zTXt" && type != "iTXt") return {};
  skip_text();
  const bool is_international = type == "iTXt";
  const std::size_t head = is_international ? 2 : 1;
  if (data.size() <= head || (is_international && data[0] == 0)) return {};
  data = data.subspan(head);
  if (is_international) {
    skip_text();
    skip_text();
  }
  return data;
}

/// Returns the bytes of a JPEG file from the first scan on (ITU-T T.81, annex B); empty if there is
/// no scan.
std::span<const std::uint8_t> from_first_scan(std::span<const std::uint8_t> jpeg) {
  constexpr std::uint8_t start_of_scan = 0xDA, fill = 0xFF;
  for (std::size_t at = 2; at + 4 <= jpeg.size() && jpeg[at] == 0xFF;) {
    if (jpeg[at + 1] == start_of_scan) return jpeg.subspan(at);
    at += jpeg[at + 1] == fill ? 1 : 2 + big_endian(&jpeg[at + 2], 2);
  }
  return {};
}

/// Checks the compressed texts and profiles in PNG chunks. FFmpeg decompresses these data without a
/// size limit, although they can become about 1000 times larger.
std::optional<PictureFault> find_chunk_fault(std::span<const std::uint8_t> chunks) {
  constexpr std::uint64_t max_bytes = 16 << 20;  // far more than any colour profile has
  std::uint64_t total = 0;
  while (chunks.size() >= 12) {
    const std::uint64_t bytes = big_endian(chunks.data(), 4);
    if (bytes > chunks.size() - 12) return std::nullopt;  // the decoder reports this damage
    const std::string_view type = text_of(chunks.subspan(4, 4));
    const auto data = compressed_part(type, chunks.subspan(8, bytes));
    if (!data.empty()) total += inflated_size(data, max_bytes).bytes;
    if (total > max_bytes)
      return PictureFault{
          std::string(type) + " inflates to more than " + std::to_string(max_bytes >> 20) + " MiB",
          false};
    chunks = chunks.subspan(12 + bytes);
  }
  return std::nullopt;
}

}  // namespace

std::optional<PictureFault> find_png_fault(std::span<const std::uint8_t> packet) {
  if (!begins_with_png_signature(packet)) return std::nullopt;
  return find_chunk_fault(packet.subspan(png_signature.size()));
}

// Rejects Sun raster files with more than 2^29 bytes of samples, because FFmpeg's run-length
// decoder crashes above about 2^31 / 3 bytes. The header has 32-bit fields: magic, width, height,
// depth, length, kind.
std::optional<PictureFault> find_sun_fault(std::span<const std::uint8_t> packet) {
  if (packet.size() < 32) return std::nullopt;
  const std::uint64_t width = big_endian(&packet[4], 4), height = big_endian(&packet[8], 4);
  const std::uint64_t depth = big_endian(&packet[12], 4);
  const double bytes =
      static_cast<double>(width) * static_cast<double>(height) * static_cast<double>(depth) / 8;
  if (bytes <= std::numeric_limits<int>::max() / 4.0) return std::nullopt;
  return PictureFault{"it is too large for FFmpeg", false};
}

std::optional<PictureFault> find_fault(AVCodecID codec, std::span<const std::uint8_t> packet) {
  switch (codec) {
    case AV_CODEC_ID_GIF:
      return find_gif_fault(packet);
    case AV_CODEC_ID_PNG:
      return find_png_fault(packet);
    case AV_CODEC_ID_APNG:  // packets and extradata have no signature
      return find_chunk_fault(packet);
    case AV_CODEC_ID_SUNRAST:
      return find_sun_fault(packet);
    default:
      return std::nullopt;
  }
}

bool is_junk(AVCodecID codec, std::span<const std::uint8_t> packet) {
  const std::string_view text = text_of(packet);
  switch (codec) {
    case AV_CODEC_ID_PBM:
    case AV_CODEC_ID_PGM:
    case AV_CODEC_ID_PGMYUV:
    case AV_CODEC_ID_PPM:
    case AV_CODEC_ID_PAM:
    case AV_CODEC_ID_PFM:
      return !text.starts_with('P');
    case AV_CODEC_ID_QOI:
      return !text.starts_with("qoif");
    case AV_CODEC_ID_PNG: {
      constexpr std::array<std::string_view, 3> chunks = {"IHDR", "IDAT", "IEND"};
      return !begins_with_png_signature(packet) &&
             std::ranges::none_of(
                 chunks, [&](std::string_view name) { return text.find(name) != text.npos; });
    }
    default:
      return false;
  }
}

// A motion photo is a JPEG picture and an MP4 file behind it. The MP4 file begins with the size and
// the name of its box "ftyp" (ISO/IEC 14496-12, 4.3). The function searches for this name, because
// some phones write another header between the picture and the MP4 file.
bool is_motion_photo(std::span<const std::uint8_t> packet) {
  constexpr std::uint64_t min_box = 16, max_box = 256;
  const std::span<const std::uint8_t> rest = from_first_scan(packet);
  const std::string_view text = text_of(rest);
  for (std::size_t at = text.find("ftyp", 4); at != text.npos; at = text.find("ftyp", at + 1)) {
    const std::uint64_t box = big_endian(&rest[at - 4], 4);
    if (box >= min_box && box <= max_box && box % 4 == 0) return true;
  }
  return false;
}

}  // namespace lull::io
