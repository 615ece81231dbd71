#include "io/containers/ebml.h"

namespace lull::io {

// The length of a number in bytes is one plus the number of leading zero bits (RFC 8794, section
// 4).
bool read_ebml_number(FileBytes& file, std::uint64_t at, bool keep_marker, EbmlNumber& number) {
  std::uint8_t raw[8];
  if (!file.read(at, raw, 1) || raw[0] == 0) return false;
  number.bytes = 1;
  while (!(raw[0] << (number.bytes - 1) & 0x80)) ++number.bytes;
  if (!file.read(at, raw, static_cast<std::size_t>(number.bytes))) return false;
  const std::uint64_t marker = std::uint64_t{1} << (7 * number.bytes);
  number.value = big_endian(raw, number.bytes);
  number.unknown = number.value == 2 * marker - 1;
  if (!keep_marker) number.value -= marker;
  return true;
}

bool read_ebml_element(FileBytes& file, std::uint64_t at, EbmlElement& element) {
  constexpr int max_id_bytes = 4;
  EbmlNumber id, size;
  if (!read_ebml_number(file, at, true, id) || id.bytes > max_id_bytes) return false;
  const auto size_at = at + static_cast<std::uint64_t>(id.bytes);
  if (!read_ebml_number(file, size_at, false, size)) return false;
  element.id = id.value;
  element.data = size_at + static_cast<std::uint64_t>(size.bytes);
  element.size = size.unknown ? 0 : size.value;
  element.unknown_size = size.unknown;
  return true;
}

}  // namespace lull::io
