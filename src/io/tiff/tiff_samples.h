#pragma once
// Reads and writes samples of 1 to 32 bits in the rows of strips and tiles.

#include <cstdint>
#include <span>

namespace lull::io {

/// Position and size of one sample of each pixel in a row. Samples of 8, 16, 24 and 32 bits have
/// native byte order. Samples of other sizes are packed, with the most significant bit first.
struct TiffRow {
  int bits;    // number of bits of a sample
  int stride;  // number of samples of a pixel in the row
  int offset;  // index of the sample in its pixel
};

/// Unpacks one sample of each pixel of a row.
void load_bits(const std::uint8_t* row, const TiffRow& format, std::span<std::uint32_t> to);
/// Packs one sample of each pixel into a row. All bits of the row must be zero before the first
/// call.
void store_bits(std::span<const std::uint32_t> from, const TiffRow& format, std::uint8_t* row);

/// Conversions between IEEE 754 binary16 (as bits) and binary32.
float from_half(std::uint16_t bits);
std::uint16_t to_half(float value);

}  // namespace lull::io
