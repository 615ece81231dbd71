#pragma once
// The headers of a JPEG 2000 codestream (ISO/IEC 15444-1, annex A).

#include <cstdint>
#include <optional>
#include <span>

namespace lull::io {

/// The picture that the main header of a codestream describes.
struct Jpeg2000Header {
  std::uint32_t columns = 0, rows = 0;
  int components = 0;
  int bits = 0;  // number of bits in a sample (first component)
  bool is_signed = false;
  bool is_high_throughput = false;  // HTJ2K (ISO/IEC 15444-15)
  std::uint64_t tiles = 0;
};

/// Reads the main header. Returns nullopt if the codestream is invalid.
[[nodiscard]] std::optional<Jpeg2000Header> read_jpeg2000_header(
    std::span<const std::uint8_t> codestream);

/// Returns whether each tile has a tile-part and all tile-parts are complete. FFmpeg decodes
/// truncated codestreams without an error.
[[nodiscard]] bool has_all_tiles(std::span<const std::uint8_t> codestream,
                                 const Jpeg2000Header& header);

}  // namespace lull::io
