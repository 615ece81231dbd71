#include "io/dicom/rle_header.h"

namespace lull::io {
namespace {

constexpr std::size_t header_bytes = 64, max_segments = 15;

std::uint32_t little_endian(std::span<const std::uint8_t> bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 4; i-- > 0;) value = value << 8 | bytes[i];
  return value;
}

}  // namespace

bool has_rle_segments(std::span<const std::uint8_t> frame, std::size_t count) {
  if (frame.size() < header_bytes || count > max_segments || little_endian(frame) != count)
    return false;
  std::size_t least = header_bytes;
  for (std::size_t i = 1; i <= count; ++i) {
    const std::size_t offset = little_endian(frame.subspan(4 * i));
    if (offset < least || offset >= frame.size()) return false;
    least = offset + 1;
  }
  return true;
}

}  // namespace lull::io
