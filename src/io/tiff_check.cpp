// Where a TIFF file keeps its samples (TIFF 6.0, section 2).

#include <algorithm>
#include <optional>
#include <vector>

#include "io/file_bytes.h"

namespace lull::io {
namespace {

class Tiff {
 public:
  explicit Tiff(Bytes& file) : file_(file) {
    std::uint8_t order = 0;
    big_ = file.read(0, &order, 1) && order == 'M';  // "MM" or "II"
  }

  std::optional<std::uint64_t> number(std::uint64_t at, int bytes) {
    std::uint8_t raw[4];
    if (!file_.read(at, raw, bytes)) return std::nullopt;
    if (!big_) std::reverse(raw, raw + bytes);
    return big_endian(raw, bytes);
  }

  /// The values of an entry of a directory: 16 or 32 bits each, in place if they fit 4 bytes.
  std::optional<std::vector<std::uint64_t>> values(std::uint64_t entry) {
    constexpr int short_type = 3;
    const auto type = number(entry + 2, 2), count = number(entry + 4, 4);
    if (!type || !count || *count > file_.size()) return std::nullopt;
    const int bytes = *type == short_type ? 2 : 4;
    const auto at = *count * bytes <= 4 ? entry + 8 : number(entry + 8, 4);
    std::vector<std::uint64_t> found;
    for (std::uint64_t i = 0; at && i < *count; ++i) {
      const auto value = number(*at + i * bytes, bytes);
      if (!value) return std::nullopt;
      found.push_back(*value);
    }
    return found;
  }

 private:
  Bytes& file_;
  bool big_ = false;
};

}  // namespace

std::uint64_t second_page(Bytes& file) {
  Tiff tiff(file);
  const auto directory = tiff.number(4, 4);
  const auto entries = directory ? tiff.number(*directory, 2) : std::nullopt;
  return entries ? tiff.number(*directory + 2 + 12 * *entries, 4).value_or(0) : 0;
}

std::string check_tiff(Bytes& file) {
  constexpr int strip_offsets = 273, strip_bytes = 279, tile_offsets = 324, tile_bytes = 325;
  Tiff tiff(file);
  const std::string cut = "a directory lies beyond the end";
  const auto directory = tiff.number(4, 4);
  const auto entries = directory ? tiff.number(*directory, 2) : std::nullopt;
  if (!entries) return cut;
  std::vector<std::uint64_t> offsets, bytes;
  for (std::uint64_t i = 0; i < *entries; ++i) {
    const std::uint64_t entry = *directory + 2 + 12 * i;
    const auto tag = tiff.number(entry, 2);
    if (!tag) return cut;
    const bool offset = *tag == strip_offsets || *tag == tile_offsets;
    if (!offset && *tag != strip_bytes && *tag != tile_bytes) continue;
    auto values = tiff.values(entry);
    if (!values) return cut;
    (offset ? offsets : bytes) = std::move(*values);
  }
  if (!tiff.number(*directory + 2 + 12 * *entries, 4)) return cut;  // of the next directory
  for (std::size_t i = 0; i < offsets.size() && i < bytes.size(); ++i)
    if (offsets[i] + bytes[i] > file.size())
      return ends_early("strip " + std::to_string(i), offsets[i] + bytes[i], file.size());
  return {};
}

}  // namespace lull::io
