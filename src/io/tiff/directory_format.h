#pragma once
// Reads and writes directories of TIFF files as bytes, for tags that libtiff does not support.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "io/files/file_bytes.h"

namespace lull::io {

/// Layout of a directory of TIFF (TIFF 6.0, section 2) or BigTIFF: number of entries, entries,
/// offset of the next directory.
struct DirectoryFormat {
  bool is_big_endian, is_big_tiff;

  int count_bytes() const { return is_big_tiff ? 8 : 2; }
  int offset_bytes() const { return is_big_tiff ? 8 : 4; }
  std::uint64_t entry_bytes() const { return is_big_tiff ? 20 : 12; }
  std::uint64_t first_pointer() const { return is_big_tiff ? 8 : 4; }

  std::uint64_t number(const std::uint8_t* from, int bytes) const {
    std::uint8_t raw[8];
    std::copy_n(from, bytes, raw);
    if (!is_big_endian) std::reverse(raw, raw + bytes);
    return big_endian(raw, bytes);
  }
  void append(std::vector<std::uint8_t>& to, std::uint64_t value, int bytes) const {
    for (int i = 0; i < bytes; ++i)
      to.push_back(static_cast<std::uint8_t>(value >> 8 * (is_big_endian ? bytes - 1 - i : i)));
  }
};

/// Writes bytes at an offset of an open file.
/// @throws IoError
void write_to_tiff(int descriptor, std::uint64_t at, std::span<const std::uint8_t> data);

/// Appends bytes to an open file at an even offset, and returns this offset.
/// @throws IoError
std::uint64_t append_to_tiff(int descriptor, std::span<const std::uint8_t> data);

}  // namespace lull::io
