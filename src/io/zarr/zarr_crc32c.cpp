#include "io/zarr/zarr_crc32c.h"

#include <array>

namespace lull::io {
namespace {

/// Number of bytes per iteration of the checksum loop.
constexpr std::size_t step = 8;
using Tables = std::array<std::array<std::uint32_t, 256>, step>;

/// Makes the tables of the Castagnoli polynomial with reflected bits. Entry i of table n is the
/// checksum of a byte with the value i and n following zero bytes.
constexpr Tables make_tables() {
  constexpr std::uint32_t polynomial = 0x82f63b78;
  Tables tables{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? polynomial : 0);
    tables[0][i] = value;
  }
  for (std::size_t n = 1; n < step; ++n)
    for (std::size_t i = 0; i < 256; ++i)
      tables[n][i] = tables[n - 1][i] >> 8 ^ tables[0][tables[n - 1][i] & 0xff];
  return tables;
}

constexpr Tables tables = make_tables();

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes) {
  std::uint32_t crc = 0xffffffff;
  for (; bytes.size() >= step; bytes = bytes.subspan(step)) {
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < step; ++i) {
      const std::uint32_t before = i < 4 ? crc >> (8 * i) : 0;
      next ^= tables[step - 1 - i][(before ^ std::to_integer<std::uint32_t>(bytes[i])) & 0xff];
    }
    crc = next;
  }
  for (const std::byte byte : bytes)
    crc = crc >> 8 ^ tables[0][(crc ^ std::to_integer<std::uint32_t>(byte)) & 0xff];
  return ~crc;
}

void append_checksum(std::vector<std::byte>& bytes) {
  const std::uint32_t crc = crc32c(bytes);
  for (std::size_t i = 0; i < checksum_bytes; ++i)
    bytes.push_back(static_cast<std::byte>(crc >> (8 * i)));
}

bool remove_checksum(std::vector<std::byte>& bytes) {
  if (bytes.size() < checksum_bytes) return false;
  const std::span<const std::byte> all(bytes);
  const auto stored = all.last(checksum_bytes);
  std::uint32_t stated = 0;
  for (std::size_t i = checksum_bytes; i-- > 0;)
    stated = stated << 8 | std::to_integer<std::uint32_t>(stored[i]);
  const bool is_correct = crc32c(all.first(all.size() - checksum_bytes)) == stated;
  bytes.resize(bytes.size() - checksum_bytes);
  return is_correct;
}

}  // namespace lull::io
