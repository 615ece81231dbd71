#pragma once
// Reads and writes numbers in a given byte order, and joins byte sequences.

#include <string_view>

#include "io/metadata/picture_metadata.h"

namespace lull::io {

/// Returns the big-endian number in the `count` bytes at `p`.
inline std::uint32_t read_big(const std::uint8_t* p, int count) {
  std::uint32_t value = 0;
  for (int i = 0; i < count; ++i) value = value << 8 | p[i];
  return value;
}

inline std::uint32_t read_little(const std::uint8_t* p, int count) {
  std::uint32_t value = 0;
  for (int i = count; i-- > 0;) value = value << 8 | p[i];
  return value;
}

inline void append(ByteVector& to, ByteView bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}
inline void append(ByteVector& to, std::string_view text) {
  to.insert(to.end(), text.begin(), text.end());
}
inline void append_big(ByteVector& to, std::uint32_t value, int count) {
  for (int i = count; i-- > 0;) to.push_back(static_cast<std::uint8_t>(value >> 8 * i));
}
inline void append_little(ByteVector& to, std::uint32_t value, int count) {
  for (int i = 0; i < count; ++i) to.push_back(static_cast<std::uint8_t>(value >> 8 * i));
}

inline std::string_view text_view(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline ByteView byte_view(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}
inline ByteVector to_vector(ByteView bytes) { return {bytes.begin(), bytes.end()}; }

inline bool begins_with(ByteView bytes, std::string_view text) {
  return text_view(bytes).starts_with(text);
}

}  // namespace lull::io
