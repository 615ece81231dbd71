#pragma once
// Reads and writes numbers at byte offsets of binary headers, in either byte order.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <span>

namespace lull::io {

/// Returns the number at byte `at`. `bytes` must contain the whole number.
template <class T>
T number_at(std::span<const std::byte> bytes, std::size_t at, bool big) {
  std::array<std::byte, sizeof(T)> raw;
  std::ranges::copy(bytes.subspan(at, sizeof(T)), raw.begin());
  if (big != (std::endian::native == std::endian::big)) std::ranges::reverse(raw);
  return std::bit_cast<T>(raw);
}

/// Writes a number at byte `at`. `bytes` must have space for the whole number.
template <class T>
void put_number(std::span<std::byte> bytes, std::size_t at, bool big, T value) {
  auto raw = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
  if (big != (std::endian::native == std::endian::big)) std::ranges::reverse(raw);
  std::ranges::copy(raw, bytes.subspan(at, sizeof(T)).begin());
}

}  // namespace lull::io
