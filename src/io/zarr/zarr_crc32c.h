#pragma once
// The checksum CRC-32C, which the codec `crc32c` of Zarr version 3 appends to chunks and indexes.
//
// Source: RFC 3720, 12.1 and B.4.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lull::io {

/// Size of a stored checksum in bytes. Zarr stores checksums in little-endian byte order.
inline constexpr std::size_t checksum_bytes = 4;

/// Returns the CRC-32C of the bytes.
[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes);

/// Appends the checksum of the bytes.
void append_checksum(std::vector<std::byte>& bytes);
/// Removes the checksum at the end of the bytes, and returns whether it is correct.
[[nodiscard]] bool remove_checksum(std::vector<std::byte>& bytes);

}  // namespace lull::io
