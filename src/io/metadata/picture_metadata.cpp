#include "io/metadata/picture_metadata.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "io/metadata/byte_order.h"
#include "io/metadata/exif.h"
#include "io/metadata/formats.h"

namespace lull::io {
namespace {

constexpr std::string_view png_signature = "\x89PNG\r\n\x1a\n";
constexpr std::string_view jxl_signature{"\0\0\0\x0CJXL \r\n\x87\n", 12};
/// Types of the boxes that contain metadata in JPEG XL files. Each type has a name for messages.
constexpr std::pair<std::string_view, std::string_view> jxl_metadata[] = {
    {"Exif", "the compressed EXIF metadata of JPEG XL"},
    {"xml ", "the compressed XMP metadata of JPEG XL"}};

bool is_webp(ByteView file) {
  return file.size() >= 12 && begins_with(file, "RIFF") && begins_with(file.subspan(8), "WEBP");
}

bool is_heif(ByteView file) {
  constexpr std::string_view brands[] = {"heic", "heix", "heim", "heis", "avif", "mif1", "msf1"};
  if (file.size() < 16 || !begins_with(file.subspan(4), "ftyp")) return false;
  return std::ranges::find(brands, text_view(file.subspan(8, 4))) != std::end(brands);
}

/// Returns the length in bytes of the UTF-8 character at the beginning of `bytes`; 0 if `bytes`
/// does not begin with a valid character.
std::size_t utf8_length(ByteView bytes) {
  const std::uint8_t c = bytes[0];
  const std::size_t length = c < 0x80   ? 1
                             : c < 0xC2 ? 0
                             : c < 0xE0 ? 2
                             : c < 0xF0 ? 3
                             : c < 0xF5 ? 4
                                        : 0;
  if (length == 0 || length > bytes.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((bytes[i] & 0xC0) != 0x80) return 0;
  return length;
}

bool is_utf8(ByteView bytes) {
  while (!bytes.empty()) {
    const std::size_t length = utf8_length(bytes);
    if (length == 0) return false;
    bytes = bytes.subspan(length);
  }
  return true;
}

// Copies the orientation from the EXIF data. The function also copies the resolution, the gamma and
// the chromaticities if no other part of the file states them.
void complete_from_exif(PictureMetadata& metadata) {
  const ExifFacts facts = read_exif(metadata.exif);
  if (facts.is_valid) metadata.orientation = facts.orientation;
  if (!metadata.resolution) metadata.resolution = facts.resolution;
  if (!metadata.gamma) metadata.gamma = facts.gamma;
  if (!metadata.chromaticities) metadata.chromaticities = facts.chromaticities;
}

}  // namespace

bool PictureMetadata::empty() const {
  return exif.empty() && xmp.empty() && photoshop.empty() && icc.empty() && !resolution &&
         texts.empty() && !gamma && !chromaticities && !srgb_intent && native.empty() &&
         pictures.empty();
}

PictureKind kind_of(ByteView file) {
  if (begins_with(file, "\xFF\xD8\xFF")) return PictureKind::jpeg;
  if (begins_with(file, png_signature)) return PictureKind::png;
  if (is_webp(file)) return PictureKind::webp;
  constexpr std::string_view tiffs[] = {{"II*\0", 4}, {"MM\0*", 4}, {"II+\0", 4}, {"MM\0+", 4}};
  if (begins_with(file, "SDPX") || begins_with(file, "XPDS")) return PictureKind::dpx;
  for (const std::string_view tiff : tiffs)
    if (begins_with(file, tiff)) return PictureKind::tiff;
  return PictureKind::other;
}

PictureKind kind_of_extension(const std::string& extension) {
  std::string lower = extension;
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  if (lower == "jpg" || lower == "jpeg") return PictureKind::jpeg;
  if (lower == "png") return PictureKind::png;
  if (lower == "tif" || lower == "tiff") return PictureKind::tiff;
  if (lower == "dpx") return PictureKind::dpx;
  return lower == "webp" ? PictureKind::webp : PictureKind::other;
}

PictureMetadata read_metadata(ByteView file) {
  PictureMetadata metadata;
  switch (kind_of(file)) {
    case PictureKind::jpeg:
      read_jpeg(file, metadata);
      break;
    case PictureKind::png:
      read_png(file, metadata);
      break;
    case PictureKind::webp:
      read_webp(file, metadata);
      break;
    case PictureKind::tiff:
      read_tiff(file, metadata);
      break;
    case PictureKind::dpx:
      read_dpx(file, metadata);
      break;
    case PictureKind::other:
      if (begins_with(file, jxl_signature)) read_jpeg_xl(file, metadata);
      if (is_heif(file)) read_heif(file, metadata);
      complete_from_exif(metadata);
      // HEIF and JPEG XL files store the orientation outside the EXIF data, so the function ignores
      // the orientation in the EXIF data. For JPEG XL, the orientation is 1, because FFmpeg's
      // decoder already rotates the picture.
      metadata.orientation = is_heif(file) ? heif_orientation(file) : 1;
      return metadata;
  }
  complete_from_exif(metadata);
  return metadata;
}

// Reads the metadata of a JPEG XL file from boxes (ISO/IEC 18181-2, section 9). The box "Exif"
// begins with the offset of the TIFF structure. The box "brob" contains the type of another box and
// its data, compressed with Brotli. The function does not decompress these data.
void read_jpeg_xl(ByteView file, PictureMetadata& metadata) {
  for (std::size_t at = 0; at + 8 <= file.size();) {
    std::uint64_t bytes = read_big(&file[at], 4);
    std::size_t head = 8;
    if (bytes == 1 && at + 16 <= file.size()) {
      bytes = std::uint64_t{read_big(&file[at + 8], 4)} << 32 | read_big(&file[at + 12], 4);
      head = 16;
    }
    if (bytes == 0) bytes = file.size() - at;
    if (bytes < head || bytes > file.size() - at) return;
    const std::string_view type = text_view(file.subspan(at + 4, 4));
    const ByteView data = file.subspan(at + head, bytes - head);
    if (type == "xml ") metadata.xmp = to_vector(data);
    if (type == "Exif" && data.size() > 4 && read_big(data.data(), 4) < data.size() - 4)
      metadata.exif = to_vector(data.subspan(4 + read_big(data.data(), 4)));
    for (const auto& [compressed, name] : jxl_metadata)
      if (type == "brob" && begins_with(data, compressed))
        metadata.native.push_back({PictureKind::other, std::string(name), {}, {}});
    at += bytes;
  }
}

ByteVector embed_metadata(ByteView file, const PictureMetadata& metadata) {
  switch (kind_of(file)) {
    case PictureKind::jpeg:
      return embed_in_jpeg(file, metadata);
    case PictureKind::png:
      return embed_in_png(file, metadata);
    case PictureKind::webp:
      return embed_in_webp(file, metadata);
    case PictureKind::tiff:
      return embed_in_tiff(file, metadata);
    case PictureKind::dpx:
      return embed_in_dpx(file, metadata);
    case PictureKind::other:
      break;
  }
  throw InternalError("the encoder made a picture of an unknown kind");
}

std::string to_utf8(ByteView bytes) {
  return is_utf8(bytes) ? std::string(text_view(bytes)) : from_latin1(bytes);
}

std::string from_latin1(ByteView bytes) {
  std::string utf8;
  for (const std::uint8_t c : bytes) {
    if (c >= 0x80) utf8 += static_cast<char>(0xC0 | c >> 6);
    utf8 += static_cast<char>(c < 0x80 ? c : 0x80 | (c & 0x3F));
  }
  return utf8;
}

std::optional<std::string> to_latin1(std::string_view utf8) {
  std::string out;
  for (ByteView bytes = byte_view(utf8); !bytes.empty();) {
    const std::size_t length = utf8_length(bytes);
    if (length == 0 || length > 2 || (length == 2 && bytes[0] > 0xC3)) return std::nullopt;
    out += static_cast<char>(length == 1 ? bytes[0] : (bytes[0] & 3) << 6 | (bytes[1] & 0x3F));
    bytes = bytes.subspan(length);
  }
  return out;
}

}  // namespace lull::io
