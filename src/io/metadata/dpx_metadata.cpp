// Reads and writes the header of DPX files (SMPTE ST 268-1). The magic number states the byte
// order. In memory, headers are big-endian.

#include <algorithm>
#include <array>
#include <cstring>

#include "core/error.h"
#include "io/metadata/byte_order.h"
#include "io/metadata/formats.h"

namespace lull::io {
namespace {

constexpr std::size_t header_bytes = 2048, generic_bytes = 1664, element_bytes = 72,
                      first_element = 780;
constexpr std::size_t max_user_bytes = 1 << 20;  // ST 268-1, 5.6

/// An array of numbers in the header: its byte offset, the number of elements, and the size of an
/// element in bytes.
struct Numbers {
  std::size_t at, count;
  std::size_t bytes;
};
constexpr Numbers numbers[] = {{0, 2, 4},    {16, 5, 4},   {660, 1, 4},  {768, 2, 2},
                               {772, 2, 4},  {1408, 6, 4}, {1620, 4, 2}, {1628, 2, 4},
                               {1712, 5, 4}, {1920, 2, 4}, {1932, 10, 4}};
constexpr Numbers numbers_of_element[] = {{0, 5, 4}, {24, 2, 2}, {28, 3, 4}};

/// Byte ranges of the header fields that describe the storage of the samples. The output may have
/// other values in these fields.
struct Range {
  std::size_t begin, end;
};
constexpr Range of_samples[] = {{0, 36}, {660, 664}, {770, 780}, {780, 1356}};
/// Byte range of the transfer function and the colorimetry of the first image element.
constexpr Range of_colour = {801, 803};
/// Byte ranges of the header that contain texts, film data and television data. lull copies a
/// header only if at least one of these ranges is not empty.
constexpr Range stated_by_user[] = {{36, 660}, {1432, 1620}, {1664, 1864}, {1920, 1972}};

void reverse(ByteVector& header, std::size_t base, const Numbers& numbers) {
  for (std::size_t i = 0; i < numbers.count; ++i) {
    const auto at =
        header.begin() + static_cast<std::ptrdiff_t>(base + numbers.at + i * numbers.bytes);
    std::reverse(at, at + static_cast<std::ptrdiff_t>(numbers.bytes));
  }
}

void reverse_byte_order(ByteVector& header) {
  for (const Numbers& part : numbers) reverse(header, 0, part);
  for (std::size_t element = 0; element < 8; ++element)
    for (const Numbers& part : numbers_of_element)
      reverse(header, first_element + element * element_bytes, part);
}

bool is_dpx(ByteView file) {
  return file.size() > generic_bytes && (begins_with(file, "SDPX") || begins_with(file, "XPDS"));
}

/// Returns the header in big-endian order. Missing bytes become 0xFF ("undefined").
ByteVector header_of(ByteView file) {
  const bool is_little = begins_with(file, "XPDS");
  const std::size_t samples = is_little ? read_little(&file[4], 4) : read_big(&file[4], 4);
  const std::size_t own = std::clamp(samples, generic_bytes, header_bytes);
  ByteVector header = to_vector(file.first(std::min(own, file.size())));
  header.resize(header_bytes, 0xFF);
  if (is_little) reverse_byte_order(header);
  return header;
}

bool is_stated(ByteView header) {
  return std::ranges::any_of(stated_by_user, [&](const Range& range) {
    return std::any_of(header.begin() + static_cast<std::ptrdiff_t>(range.begin),
                       header.begin() + static_cast<std::ptrdiff_t>(range.end),
                       [](std::uint8_t byte) { return byte != 0 && byte != 0xFF; });
  });
}

void copy_range(ByteView from, const Range& range, ByteVector& to) {
  std::copy(from.begin() + static_cast<std::ptrdiff_t>(range.begin),
            from.begin() + static_cast<std::ptrdiff_t>(range.end),
            to.begin() + static_cast<std::ptrdiff_t>(range.begin));
}

void put(ByteVector& header, std::size_t at, std::size_t value) {
  for (int i = 0; i < 4; ++i) header[at + i] = static_cast<std::uint8_t>(value >> (24 - 8 * i));
}

}  // namespace

void read_dpx(ByteView file, PictureMetadata& metadata) {
  if (!is_dpx(file)) return;
  ByteVector header = header_of(file);
  const std::size_t samples = read_big(&header[4], 4);
  const bool has_user =
      samples > header_bytes && samples <= header_bytes + max_user_bytes && samples <= file.size();
  if (!has_user && !is_stated(header)) return;
  if (has_user) append(header, file.subspan(header_bytes, samples - header_bytes));
  metadata.native.push_back(
      {PictureKind::dpx, "the DPX header (film, time code, texts)", {}, std::move(header)});
}

ByteVector embed_in_dpx(ByteView file, const PictureMetadata& metadata) {
  if (metadata.native.empty()) return to_vector(file);
  if (!is_dpx(file)) throw InternalError("the encoder made no DPX file");
  const ByteVector encoded = header_of(file);
  const std::size_t samples = read_big(&encoded[4], 4);
  if (samples > file.size()) throw InternalError("the encoder made no DPX file");
  const ByteVector& old = metadata.native.front().data;
  ByteVector out = old;
  for (const Range& range : of_samples) copy_range(encoded, range, out);
  copy_range(old, of_colour, out);
  constexpr std::size_t offset_at = 4, size_at = 16, generic_at = 24, element_offset_at = 808;
  put(out, offset_at, old.size());
  put(out, size_at, old.size() + file.size() - samples);
  put(out, generic_at, generic_bytes);
  put(out, generic_at + 4, header_bytes - generic_bytes);
  put(out, generic_at + 8, old.size() - header_bytes);
  put(out, element_offset_at, old.size());
  if (begins_with(file, "XPDS")) {
    ByteVector header(out.begin(), out.begin() + header_bytes);
    reverse_byte_order(header);
    std::ranges::copy(header, out.begin());
  }
  append(out, file.subspan(samples));
  return out;
}

}  // namespace lull::io
