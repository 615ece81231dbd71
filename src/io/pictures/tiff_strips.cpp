#include "io/pictures/tiff_strips.h"

#include <algorithm>
#include <span>
#include <vector>

#include "io/files/inflated_size.h"

namespace lull::io {
namespace {

template <class T>
T tag(TIFF* page, std::uint32_t name, T fallback) {
  T value = fallback;
  TIFFGetFieldDefaulted(page, name, &value);
  return value;
}

bool is_fax(std::uint16_t codec) {
  return codec == COMPRESSION_CCITTRLE || codec == COMPRESSION_CCITTRLEW ||
         codec == COMPRESSION_CCITTFAX3 || codec == COMPRESSION_CCITTFAX4;
}

bool is_deflate(std::uint16_t codec) {
  return codec == COMPRESSION_ADOBE_DEFLATE || codec == COMPRESSION_DEFLATE;
}

/// Returns whether the strips can be checked. JPEG data contain no lengths, and DNG uses kinds of
/// JPEG that libtiff does not support.
bool can_be_checked(std::uint16_t codec) {
  return codec != COMPRESSION_JPEG && codec != COMPRESSION_OJPEG && TIFFIsCODECConfigured(codec);
}

/// The strips or tiles of a page.
class Strips {
 public:
  explicit Strips(TIFF* page)
      : page_(page),
        is_tiled_(TIFFIsTiled(page) != 0),
        count_(is_tiled_ ? TIFFNumberOfTiles(page) : TIFFNumberOfStrips(page)),
        height_(tag<std::uint32_t>(page, TIFFTAG_IMAGELENGTH, 0)),
        rows_(std::clamp<std::uint32_t>(tag(page, TIFFTAG_ROWSPERSTRIP, height_), 1,
                                        std::max<std::uint32_t>(height_, 1))) {}

  std::uint32_t count() const { return count_; }
  std::string name(std::uint32_t i) const {
    return (is_tiled_ ? "tile " : "strip ") + std::to_string(i);
  }
  /// Returns the size of a strip's samples in bytes.
  std::uint64_t bytes(std::uint32_t i) const {
    if (is_tiled_) return TIFFTileSize64(page_);
    const std::uint32_t in_plane = i % ((height_ + rows_ - 1) / rows_);
    return TIFFVStripSize64(page_, std::min(rows_, height_ - in_plane * rows_));
  }
  std::uint64_t stored_bytes(std::uint32_t i) const { return TIFFGetStrileByteCount(page_, i); }
  /// Returns whether a strip lies within the file.
  bool is_in_file(std::uint32_t i) const {
    const std::uint64_t at = TIFFGetStrileOffset(page_, i);
    const std::uint64_t file_bytes = TIFFGetSizeProc(page_)(TIFFClientdata(page_));
    return at <= file_bytes && stored_bytes(i) <= file_bytes - at;
  }

  tmsize_t read_raw(std::uint32_t i, std::vector<std::uint8_t>& to) const {
    to.resize(stored_bytes(i));
    const auto size = static_cast<tmsize_t>(to.size());
    const tmsize_t got = is_tiled_ ? TIFFReadRawTile(page_, i, to.data(), size)
                                   : TIFFReadRawStrip(page_, i, to.data(), size);
    if (got > 0 && tag<std::uint16_t>(page_, TIFFTAG_FILLORDER, 1) == FILLORDER_LSB2MSB)
      TIFFReverseBits(to.data(), got);
    return got;
  }
  tmsize_t decode(std::uint32_t i, std::vector<std::uint8_t>& to) const {
    to.resize(bytes(i));
    const auto size = static_cast<tmsize_t>(to.size());
    return is_tiled_ ? TIFFReadEncodedTile(page_, i, to.data(), size)
                     : TIFFReadEncodedStrip(page_, i, to.data(), size);
  }

 private:
  TIFF* page_;
  bool is_tiled_;
  std::uint32_t count_, height_, rows_;
};

/// Inflates a strip completely and verifies its checksum. libtiff does not verify it if it has
/// enough bytes before the end of the stream. A strip may contain more bytes than its samples need.
std::optional<StripFault> find_inflate_fault(std::span<const std::uint8_t> stored,
                                             std::uint64_t expected) {
  const InflatedSize size = inflated_size(stored, 2 * expected + (1 << 16));
  if (!size.error.empty()) return StripFault{size.error, false};
  if (!size.is_complete) return StripFault{"it inflates to far more than its samples", false};
  if (size.bytes >= expected) return std::nullopt;
  return StripFault{"it inflates to " + std::to_string(size.bytes) + " bytes instead of " +
                        std::to_string(expected),
                    true};
}

}  // namespace

std::uint64_t max_compression(std::uint16_t codec) {
  switch (codec) {
    case COMPRESSION_NONE:
      return 1;
    case COMPRESSION_PACKBITS:
      return 64;  // 128 bytes become 2
    case COMPRESSION_ADOBE_DEFLATE:
    case COMPRESSION_DEFLATE:
      return 1100;  // 1030 according to zlib's manual
    case COMPRESSION_LZW:
      return 3000;  // up to 4096 bytes become 12 bits
    default:
      return 1 << 15;
  }
}

std::string find_excess(TIFF* page, std::uint64_t file_bytes) {
  const Strips strips(page);
  const auto codec = tag<std::uint16_t>(page, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  const auto rows = tag<std::uint32_t>(page, TIFFTAG_IMAGELENGTH, 0);
  // A blank row of a fax takes at least one bit, for any width.
  const bool fits = is_fax(codec)
                        ? rows / 8 <= file_bytes
                        : TIFFVStripSize64(page, rows) / max_compression(codec) <= file_bytes;
  if (fits && TIFFTileSize64(page) / 64 <= TIFFVStripSize64(page, rows) + (1 << 16)) return {};
  return "it has more samples than " + std::to_string(file_bytes) + " bytes can hold";
}

std::optional<StripFault> find_damaged_strip(TIFF* page, std::string& message) {
  const auto codec = tag<std::uint16_t>(page, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  if (!can_be_checked(codec)) return std::nullopt;
  const Strips strips(page);
  std::vector<std::uint8_t> bytes;
  for (std::uint32_t i = 0; i < strips.count(); ++i) {
    const std::uint64_t expected = strips.bytes(i), stored = strips.stored_bytes(i);
    const auto fault = [&](const std::string& text, bool is_short = false) {
      return StripFault{strips.name(i) + ": " + (text.empty() ? "the data end too early" : text),
                        is_short};
    };
    if (!strips.is_in_file(i)) return fault("it lies beyond the end of the file");
    if (!is_fax(codec) && expected / max_compression(codec) > stored)
      return fault("it has " + std::to_string(stored) + " bytes for " + std::to_string(expected) +
                   " bytes of samples");
    if (codec == COMPRESSION_NONE) continue;
    message.clear();
    if (is_deflate(codec)) {
      if (strips.read_raw(i, bytes) != static_cast<tmsize_t>(stored)) return fault(message);
      if (const auto found = find_inflate_fault(bytes, expected))
        return fault(found->text, found->is_short);
    } else if (strips.decode(i, bytes) != static_cast<tmsize_t>(expected) || !message.empty()) {
      // It is not known whether FFmpeg's LZMA decoder detects a short strip.
      return fault(message, codec == COMPRESSION_LZMA);
    }
  }
  return std::nullopt;
}

}  // namespace lull::io
