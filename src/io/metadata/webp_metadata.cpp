// Reads and writes the metadata of WebP files (RFC 9649, section 2), which consist of RIFF chunks.

#include "core/error.h"
#include "io/metadata/byte_order.h"
#include "io/metadata/formats.h"

namespace lull::io {
namespace {

/// Flags of the chunk VP8X. Each flag states that the file contains a certain kind of chunk.
constexpr std::uint8_t has_icc = 0x20, has_alpha = 0x10, has_exif = 0x08, has_xmp = 0x04;

template <class Visit>
void visit_chunks(ByteView file, Visit visit) {
  for (std::size_t at = 12; at + 8 <= file.size();) {
    const std::size_t bytes = read_little(&file[at + 4], 4);
    if (bytes > file.size() - at - 8) return;
    visit(text_view(file.subspan(at, 4)), file.subspan(at + 8, bytes));
    at += 8 + bytes + bytes % 2;
  }
}

void write_chunk(ByteVector& to, std::string_view type, ByteView data) {
  append(to, type);
  append_little(to, static_cast<std::uint32_t>(data.size()), 4);
  append(to, data);
  if (data.size() % 2 != 0) to.push_back(0);
}

struct Canvas {
  std::uint8_t flags = 0;
  std::uint32_t width = 0, height = 0;
};

/// Returns the size of the picture from the first chunk: VP8X, or the picture data of a file
/// without VP8X.
Canvas canvas_of(std::string_view type, ByteView data) {
  if (type == "VP8X" && data.size() >= 10)
    return {data[0], read_little(&data[4], 3) + 1, read_little(&data[7], 3) + 1};
  if (type == "VP8 " && data.size() >= 10)  // RFC 6386, 9.1: 14 bits each
    return {0, read_little(&data[6], 2) & 0x3FFF, read_little(&data[8], 2) & 0x3FFF};
  if (type == "VP8L" && data.size() >= 5) {  // RFC 9649, 3.4: 14 bits each, and a flag
    const std::uint32_t bits = read_little(&data[1], 4);
    return {(bits >> 28 & 1) != 0 ? has_alpha : std::uint8_t{0}, (bits & 0x3FFF) + 1,
            (bits >> 14 & 0x3FFF) + 1};
  }
  throw InternalError("the encoder made a WebP file without a picture");
}

ByteVector described(const Canvas& canvas, std::uint8_t flags) {
  ByteVector data{static_cast<std::uint8_t>(canvas.flags | flags), 0, 0, 0};
  append_little(data, canvas.width - 1, 3);
  append_little(data, canvas.height - 1, 3);
  return data;
}

}  // namespace

void read_webp(ByteView file, PictureMetadata& metadata) {
  constexpr std::string_view jpeg_header{"Exif\0\0", 6};  // some programs write this JPEG header
  visit_chunks(file, [&](std::string_view type, ByteView data) {
    if (type == "EXIF" && metadata.exif.empty())
      metadata.exif = to_vector(begins_with(data, jpeg_header) ? data.subspan(6) : data);
    if (type == "XMP " && metadata.xmp.empty()) metadata.xmp = to_vector(data);
    if (type == "ICCP" && metadata.icc.empty()) metadata.icc = to_vector(data);
  });
}

ByteVector embed_in_webp(ByteView file, const PictureMetadata& metadata) {
  const std::uint8_t flags = (metadata.icc.empty() ? 0 : has_icc) |
                             (metadata.exif.empty() ? 0 : has_exif) |
                             (metadata.xmp.empty() ? 0 : has_xmp);
  if (flags == 0) return to_vector(file);
  ByteVector chunks;
  bool first = true;
  visit_chunks(file, [&](std::string_view type, ByteView data) {
    if (first) {
      write_chunk(chunks, "VP8X", described(canvas_of(type, data), flags));
      if (!metadata.icc.empty()) write_chunk(chunks, "ICCP", metadata.icc);
    }
    first = false;
    const bool is_replaced = type == "VP8X" || (type == "ICCP" && !metadata.icc.empty());
    if (!is_replaced) write_chunk(chunks, type, data);
  });
  if (first) throw InternalError("the encoder made a WebP file without a picture");
  if (!metadata.exif.empty()) write_chunk(chunks, "EXIF", metadata.exif);
  if (!metadata.xmp.empty()) write_chunk(chunks, "XMP ", metadata.xmp);
  ByteVector out;
  append(out, "RIFF");
  append_little(out, static_cast<std::uint32_t>(4 + chunks.size()), 4);
  append(out, "WEBP");
  append(out, chunks);
  return out;
}

}  // namespace lull::io
