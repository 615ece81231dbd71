#pragma once
// Determines the decompressed size of a zlib stream without storing the data.

#include <cstdint>
#include <span>
#include <string>

namespace lull::io {

struct InflatedSize {
  std::uint64_t bytes = 0;   // size of the data
  bool is_complete = false;  // the stream is complete and its checksum is correct
  std::string error;         // zlib's message; empty if there is none
};

/// Returns the decompressed size of the stream at the beginning of `stored`. The function stops
/// soon after `max_bytes` decompressed bytes.
InflatedSize inflated_size(std::span<const std::uint8_t> stored, std::uint64_t max_bytes);

}  // namespace lull::io
