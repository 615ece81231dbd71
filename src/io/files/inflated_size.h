#pragma once
// How much data a zlib stream holds, found without keeping the data.

#include <cstdint>
#include <span>
#include <string>

namespace lull::io {

struct InflatedSize {
  std::uint64_t bytes = 0;   // of the data that the stream holds
  bool is_complete = false;  // the stream has its end, and the checksum of the data is right
  std::string error;         // zlib's, empty if there is none
};

/// Inflates the stream at the beginning of `stored`, up to a little more than `most` bytes.
InflatedSize inflated_size(std::span<const std::uint8_t> stored, std::uint64_t most);

}  // namespace lull::io
