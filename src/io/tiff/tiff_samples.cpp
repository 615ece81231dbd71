#include "io/tiff/tiff_samples.h"

#include <half.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

namespace lull::io {
namespace {

template <class Word>
void load_words(const std::uint8_t* row, const TiffRow& format, std::span<std::uint32_t> to) {
  const std::uint8_t* at = row + sizeof(Word) * format.offset;
  for (std::uint32_t& bits : to) {
    Word word;
    std::memcpy(&word, at, sizeof word);
    bits = word;
    at += sizeof(Word) * format.stride;
  }
}

template <class Word>
void store_words(std::span<const std::uint32_t> from, const TiffRow& format, std::uint8_t* row) {
  std::uint8_t* at = row + sizeof(Word) * format.offset;
  for (const std::uint32_t bits : from) {
    const auto word = static_cast<Word>(bits);
    std::memcpy(at, &word, sizeof word);
    at += sizeof(Word) * format.stride;
  }
}

constexpr bool is_little = std::endian::native == std::endian::little;
/// Returns the bit position of byte `i` in a 24-bit sample, from the least significant bit.
constexpr int shift_of_24(int i) { return 8 * (is_little ? i : 2 - i); }

/// Splits a packed sample at the boundaries of bytes. For each part, the function calls `use` with
/// four numbers: the index of the byte, the shift of the part in the byte, the number of bits, and
/// the shift of the part in the sample. Shifts count from the least significant bit.
template <class Use>
void for_bytes(std::size_t first_bit, int bits, Use use) {
  for (int done = 0; done < bits;) {
    const auto in_byte = static_cast<int>((first_bit + done) % 8);
    const int count = std::min(8 - in_byte, bits - done);
    use((first_bit + done) / 8, 8 - in_byte - count, count, bits - done - count);
    done += count;
  }
}

std::size_t first_bit(const TiffRow& format, std::size_t pixel) {
  return (pixel * format.stride + format.offset) * format.bits;
}

}  // namespace

void load_bits(const std::uint8_t* row, const TiffRow& format, std::span<std::uint32_t> to) {
  if (format.bits == 8) return load_words<std::uint8_t>(row, format, to);
  if (format.bits == 16) return load_words<std::uint16_t>(row, format, to);
  if (format.bits == 32) return load_words<std::uint32_t>(row, format, to);
  for (std::size_t x = 0; x < to.size(); ++x) {
    const std::size_t bit = first_bit(format, x);
    to[x] = 0;
    if (format.bits == 24)
      for (int i = 0; i < 3; ++i) to[x] |= std::uint32_t{row[bit / 8 + i]} << shift_of_24(i);
    else
      for_bytes(bit, format.bits, [&](std::size_t at, int shift, int count, int value_shift) {
        to[x] |= (std::uint32_t{row[at]} >> shift & ((1u << count) - 1)) << value_shift;
      });
  }
}

void store_bits(std::span<const std::uint32_t> from, const TiffRow& format, std::uint8_t* row) {
  if (format.bits == 8) return store_words<std::uint8_t>(from, format, row);
  if (format.bits == 16) return store_words<std::uint16_t>(from, format, row);
  if (format.bits == 32) return store_words<std::uint32_t>(from, format, row);
  for (std::size_t x = 0; x < from.size(); ++x) {
    const std::size_t bit = first_bit(format, x);
    if (format.bits == 24)
      for (int i = 0; i < 3; ++i)
        row[bit / 8 + i] = static_cast<std::uint8_t>(from[x] >> shift_of_24(i));
    else
      for_bytes(bit, format.bits, [&](std::size_t at, int shift, int count, int value_shift) {
        row[at] = static_cast<std::uint8_t>(row[at] | (from[x] >> value_shift & ((1u << count) - 1))
                                                          << shift);
      });
  }
}

float from_half(std::uint16_t bits) {
  half value;
  value.setBits(bits);
  return value;
}

std::uint16_t to_half(float value) { return half(value).bits(); }

}  // namespace lull::io
