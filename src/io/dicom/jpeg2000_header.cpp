#include "io/dicom/jpeg2000_header.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace lull::io {
namespace {

using Bytes = std::span<const std::uint8_t>;

// Markers of codestreams.
constexpr std::uint32_t start = 0xff4f, size = 0xff51, tile_part = 0xff90, end = 0xffd9;

/// Returns the big-endian number of `count` bytes at position `at`. `bytes` must be long enough.
std::uint32_t number_at(Bytes bytes, std::size_t at, std::size_t count) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < count; ++i) value = value << 8 | bytes[at + i];
  return value;
}

/// Returns the position of the first tile-part; nullopt if the main header is incomplete.
std::optional<std::size_t> end_of_main_header(Bytes codestream) {
  std::size_t at = 2;
  while (codestream.size() - at >= 4) {
    if (number_at(codestream, at, 2) == tile_part) return at;
    const std::size_t length = number_at(codestream, at + 2, 2);
    if (length < 2 || codestream.size() - at < length + 2) return std::nullopt;
    at += length + 2;
  }
  return std::nullopt;
}

/// Returns whether the bytes end with the end marker. DICOM pads an odd number of bytes with a zero
/// byte.
bool has_end_marker(Bytes bytes) {
  if (!bytes.empty() && bytes.back() == 0) bytes = bytes.first(bytes.size() - 1);
  return bytes.size() >= 2 && number_at(bytes, bytes.size() - 2, 2) == end;
}

}  // namespace

std::optional<Jpeg2000Header> read_jpeg2000_header(Bytes codestream) {
  constexpr std::size_t first_component = 42, bytes_of_component = 3;
  if (codestream.size() < first_component + bytes_of_component ||
      number_at(codestream, 0, 2) != start || number_at(codestream, 2, 2) != size)
    return std::nullopt;
  const auto word = [&](std::size_t at) { return number_at(codestream, at, 4); };
  const std::uint32_t right = word(8), bottom = word(12), left = word(16), top = word(20);
  const std::uint32_t tile_width = word(24), tile_height = word(28), tile_left = word(32),
                      tile_top = word(36);
  const bool is_valid = left < right && top < bottom && tile_width > 0 && tile_height > 0 &&
                        tile_left <= left && tile_top <= top &&
                        codestream[first_component + 1] == 1 &&
                        codestream[first_component + 2] == 1;
  if (!is_valid) return std::nullopt;
  const auto count = [](std::uint64_t length, std::uint64_t tile) {
    return (length + tile - 1) / tile;
  };
  const std::uint8_t depth = codestream[first_component];
  return Jpeg2000Header{
      .columns = right - left,
      .rows = bottom - top,
      .components = static_cast<int>(number_at(codestream, 40, 2)),
      .bits = (depth & 0x7f) + 1,
      .is_signed = (depth & 0x80) != 0,
      .is_high_throughput = (number_at(codestream, 6, 2) & 0x4000) != 0,
      .tiles = count(right - tile_left, tile_width) * count(bottom - tile_top, tile_height)};
}

bool has_all_tiles(Bytes codestream, const Jpeg2000Header& header) {
  constexpr std::size_t min_bytes = 14;  // minimum size of a tile-part
  const std::optional<std::size_t> first = end_of_main_header(codestream);
  if (!first) return false;
  std::vector<bool> is_found(static_cast<std::size_t>(header.tiles));
  for (std::size_t at = *first;
       codestream.size() - at >= min_bytes && number_at(codestream, at, 2) == tile_part;) {
    const std::size_t tile = number_at(codestream, at + 4, 2), left = codestream.size() - at;
    std::size_t length = number_at(codestream, at + 6, 4);
    if (length == 0 && has_end_marker(codestream)) length = left;  // ends at the end marker
    if (tile >= is_found.size() || length < min_bytes || length > left) return false;
    is_found[tile] = true;
    at += length;
  }
  return std::ranges::all_of(is_found, [](bool found) { return found; });
}

}  // namespace lull::io
