#pragma once
// Small encoded pictures into which the fuzz targets write metadata.

#include <array>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "io/metadata/byte_order.h"
#include "io/metadata/prepare.h"
#include "io/metadata/tiff_memory.h"

namespace lull::fuzz {

inline io::ByteVector small_tiff() {
  io::TiffMemory memory({});
  memory.copy_bytes();
  {
    const io::TiffPtr tiff = memory.open("wm");
    for (const auto& [tag, value] : {std::pair(TIFFTAG_IMAGEWIDTH, 1),
                                     {TIFFTAG_IMAGELENGTH, 1},
                                     {TIFFTAG_BITSPERSAMPLE, 8},
                                     {TIFFTAG_SAMPLESPERPIXEL, 1},
                                     {TIFFTAG_ROWSPERSTRIP, 1},
                                     {TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK}})
      TIFFSetField(tiff.get(), static_cast<std::uint32_t>(tag), value);
    std::uint8_t sample = 0;
    TIFFWriteScanline(tiff.get(), &sample, 0, 0);
  }
  return io::to_vector(memory.bytes());
}

/// Prepares metadata for every format, and writes them into a picture of this format.
inline void embed_everywhere(const io::PictureMetadata& metadata) {
  using namespace std::string_view_literals;
  static const io::ByteVector tiff = small_tiff();
  const std::array<std::pair<io::PictureKind, io::ByteView>, 4> pictures{
      {{io::PictureKind::jpeg,
        io::byte_view("\xFF\xD8\xFF\xE0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0\xFF\xDA\0\2\xFF\xD9"sv)},
       {io::PictureKind::png,
        io::byte_view("\x89PNG\r\n\x1a\n\0\0\0\xDIHDR\0\0\0\1\0\0\0\1\x8\0\0\0\0"
                      "\x3A\x7E\x9B\x55\0\0\0\0IEND\xAE\x42\x60\x82"sv)},
       {io::PictureKind::webp, io::byte_view("RIFF\x12\0\0\0WEBPVP8L\5\0\0\0\x2F\0\0\0\0\0"sv)},
       {io::PictureKind::tiff, tiff}}};
  for (const auto& [kind, picture] : pictures)
    for (const bool is_scaled : {false, true}) {
      const io::PreparedMetadata prepared = io::prepare_metadata(
          metadata, {.kind = kind, .name = ".x", .is_scaled = is_scaled, .width = 1, .height = 1});
      try {
        (void)io::embed_metadata(picture, prepared.metadata);
      } catch (const IoError&) {
        // Exiv2 rejected the metadata.
      }
    }
  (void)io::prepare_metadata(metadata, {.name = ".ppm", .can_rotate = true});
}

}  // namespace lull::fuzz
