#include "io/tiff/deflate_check.h"

#include <algorithm>
#include <span>
#include <vector>

#include "io/files/inflated_size.h"

namespace lull::io {
namespace {

/// The strips or tiles of a page. In this class, "strip" also means a tile.
class Strips {
 public:
  explicit Strips(TIFF* page)
      : page_(page),
        is_tiled_(TIFFIsTiled(page) != 0),
        height_(tiff_tag<std::uint32_t>(page, TIFFTAG_IMAGELENGTH, 0)),
        rows_(std::clamp<std::uint32_t>(tiff_tag(page, TIFFTAG_ROWSPERSTRIP, height_), 1,
                                        std::max<std::uint32_t>(height_, 1))) {}

  std::uint32_t count() const {
    return is_tiled_ ? TIFFNumberOfTiles(page_) : TIFFNumberOfStrips(page_);
  }
  std::string name(std::uint32_t i) const {
    return (is_tiled_ ? "tile " : "strip ") + std::to_string(i);
  }
  /// Returns the size in bytes of a strip's samples after decompression.
  std::uint64_t bytes(std::uint32_t i) const {
    if (is_tiled_) return TIFFTileSize64(page_);
    const std::uint32_t in_plane = i % ((height_ + rows_ - 1) / rows_);
    return TIFFVStripSize64(page_, std::min(rows_, height_ - in_plane * rows_));
  }
  /// Returns the compressed size of a strip in bytes; 0 if the strip extends beyond the end of the
  /// file.
  std::uint64_t stored_bytes(std::uint32_t i) const {
    const std::uint64_t at = TIFFGetStrileOffset(page_, i),
                        bytes = TIFFGetStrileByteCount(page_, i);
    const std::uint64_t file_bytes = TIFFGetSizeProc(page_)(TIFFClientdata(page_));
    return at <= file_bytes && bytes <= file_bytes - at ? bytes : 0;
  }
  bool read(std::uint32_t i, std::vector<std::uint8_t>& to) const {
    to.resize(stored_bytes(i));
    const auto size = static_cast<tmsize_t>(to.size());
    const tmsize_t got = is_tiled_ ? TIFFReadRawTile(page_, i, to.data(), size)
                                   : TIFFReadRawStrip(page_, i, to.data(), size);
    if (got != size || size == 0) return false;
    if (tiff_tag<std::uint16_t>(page_, TIFFTAG_FILLORDER, 1) == FILLORDER_LSB2MSB)
      TIFFReverseBits(to.data(), got);
    return true;
  }

 private:
  TIFF* page_;
  bool is_tiled_;
  std::uint32_t height_, rows_;
};

/// Decompresses a strip and verifies its checksum. Returns a description of the fault, or an empty
/// string. A strip with more than `expected` bytes is not a fault.
std::string find_fault(std::span<const std::uint8_t> stored, std::uint64_t expected) {
  const InflatedSize size = inflated_size(stored, 2 * expected + (1 << 16));
  if (!size.error.empty()) return size.error;
  if (!size.is_complete) return "it inflates to far more than its samples";
  if (size.bytes >= expected) return {};
  return "it inflates to " + std::to_string(size.bytes) + " bytes instead of " +
         std::to_string(expected);
}

}  // namespace

bool is_deflate(std::uint16_t codec) {
  return codec == COMPRESSION_ADOBE_DEFLATE || codec == COMPRESSION_DEFLATE;
}

std::string find_deflate_fault(TIFF* page, const std::string& message) {
  const Strips strips(page);
  std::vector<std::uint8_t> stored;
  for (std::uint32_t i = 0; i < strips.count(); ++i) {
    std::string fault;
    if (!strips.read(i, stored))
      fault = message.empty() ? "it lies beyond the end of the file" : message;
    else
      fault = find_fault(stored, strips.bytes(i));
    if (!fault.empty()) return strips.name(i) + ": " + fault;
  }
  return {};
}

}  // namespace lull::io
