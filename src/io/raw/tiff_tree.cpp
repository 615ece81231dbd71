#include "io/raw/tiff_tree.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <set>

#include "core/error.h"
#include "io/tiff/directory_format.h"

namespace lull::io {
namespace {

constexpr std::uint16_t type_byte = 1, type_ascii = 2, type_short = 3, type_long = 4,
                        type_rational = 5, type_srational = 10, type_float = 11, type_double = 12,
                        type_directory = 13;
// Size of a value in bytes for each type of TIFF 6.0; 0 for unknown types.
constexpr std::array<int, 14> type_bytes = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4};

constexpr std::uint16_t strip_offsets = 273, strip_byte_counts = 279, tile_offsets = 324,
                        tile_byte_counts = 325, jpeg_offset = 513, jpeg_length = 514,
                        rows_per_strip = 278, image_length = 257;

bool refers_to_directories(std::uint16_t tag) {
  constexpr std::array<std::uint16_t, 4> tags = {330, 34665, 34853, 40965};
  return std::ranges::find(tags, tag) != tags.end();
}

bool is_position(std::uint16_t tag) {
  constexpr std::array<std::uint16_t, 6> tags = {strip_offsets,    strip_byte_counts, tile_offsets,
                                                 tile_byte_counts, jpeg_offset,       jpeg_length};
  return std::ranges::find(tags, tag) != tags.end();
}

class TreeReader {
 public:
  TreeReader(std::span<const std::uint8_t> file, bool is_big_endian)
      : file_(file), format_{is_big_endian, false} {}

  TiffDirectory directory(std::uint64_t at, int depth) {
    TiffDirectory result;
    if (depth > max_depth || !visited_.insert(at).second || !fits(at, 2)) return result;
    const std::uint64_t count = number(at, 2);
    for (std::uint64_t i = 0; i < count && fits(at + 2 + 12 * i, 12); ++i)
      add_entry(at + 2 + 12 * i, depth, result);
    std::ranges::stable_sort(result.entries, {}, &TiffEntry::tag);
    // clang 14 cannot compile std::ranges::unique of libstdc++.
    const auto same_tag = [](const TiffEntry& a, const TiffEntry& b) { return a.tag == b.tag; };
    result.entries.erase(std::unique(result.entries.begin(), result.entries.end(), same_tag),
                         result.entries.end());
    return result;
  }

 private:
  static constexpr int max_depth = 4;

  bool fits(std::uint64_t at, std::uint64_t bytes) const {
    return at <= file_.size() && bytes <= file_.size() - at;
  }
  std::uint64_t number(std::uint64_t at, int bytes) const {
    return format_.number(file_.data() + at, bytes);
  }

  void add_entry(std::uint64_t at, int depth, TiffDirectory& to) {
    TiffEntry entry{.tag = static_cast<std::uint16_t>(number(at, 2)),
                    .type = static_cast<std::uint16_t>(number(at + 2, 2)),
                    .count = static_cast<std::uint32_t>(number(at + 4, 4))};
    if (entry.type >= type_bytes.size() || type_bytes[entry.type] == 0 || is_position(entry.tag))
      return;
    const std::uint64_t bytes = std::uint64_t{entry.count} * type_bytes[entry.type];
    const std::uint64_t value_at = bytes <= 4 ? at + 8 : number(at + 8, 4);
    // The total size of the values has a limit. Without the limit, a damaged file with many tags
    // that refer to the same bytes could cause excessive use of memory.
    if (!fits(value_at, bytes) || (stored_ += bytes) > 2 * file_.size()) return;
    if (refers_to_directories(entry.tag)) {
      if (entry.type != type_long && entry.type != type_directory) return;
      for (std::uint32_t i = 0; i < entry.count && i < 64; ++i)
        if (TiffDirectory one = directory(number(value_at + 4 * i, 4), depth + 1);
            !one.entries.empty())
          entry.directories.push_back(std::move(one));
      if (entry.directories.empty()) return;
    } else {
      const auto values = file_.subspan(value_at, bytes);
      entry.bytes.assign(values.begin(), values.end());
    }
    to.entries.push_back(std::move(entry));
  }

  std::span<const std::uint8_t> file_;
  DirectoryFormat format_;
  std::set<std::uint64_t> visited_;
  std::uint64_t stored_ = 0;
};

class TreeWriter {
 public:
  explicit TreeWriter(const TiffTree& tree) : format_{tree.is_big_endian, false} {
    const char order = tree.is_big_endian ? 'M' : 'I';
    append(static_cast<std::uint8_t>(order), 1);
    append(static_cast<std::uint8_t>(order), 1);
    append(42, 2);
    append(8, 4);
    directory(tree.first);
    place_pictures();
  }
  TiffFileParts parts() && { return std::move(parts_); }

 private:
  struct PendingPicture {
    std::size_t offset_at;  // position in the head at which the offset of the picture is stored
    std::span<const std::uint8_t> samples;
  };

  std::vector<std::uint8_t>& head() { return parts_.head; }
  void append(std::uint64_t value, int bytes) { format_.append(head(), value, bytes); }
  void put(std::size_t at, std::uint64_t value, int bytes) {
    std::vector<std::uint8_t> number;
    format_.append(number, value, bytes);
    std::ranges::copy(number, head().begin() + static_cast<std::ptrdiff_t>(at));
  }

  /// Appends a directory to the head of the file, and returns its offset.
  std::size_t directory(const TiffDirectory& given) {
    TiffDirectory with_place = given;
    if (!given.picture.empty()) {
      const auto bytes = static_cast<std::uint32_t>(given.picture.size());
      with_place.set({strip_offsets, type_long, 1, {0, 0, 0, 0}, {}});
      std::vector<std::uint8_t> count;
      format_.append(count, bytes, 4);
      with_place.set({strip_byte_counts, type_long, 1, count, {}});
      if (const TiffEntry* height = given.find(image_length))
        with_place.set({rows_per_strip, height->type, 1, height->bytes, {}});
    }
    const auto& entries = with_place.entries;
    if (head().size() % 2) head().push_back(0);
    const std::size_t at = head().size();
    append(entries.size(), 2);
    head().resize(head().size() + 12 * entries.size() + 4);
    for (std::size_t i = 0; i < entries.size(); ++i)
      write_entry(at + 2 + 12 * i, entries[i], given.picture);
    return at;
  }

  void write_entry(std::size_t at, const TiffEntry& entry, std::span<const std::uint8_t> picture) {
    put(at, entry.tag, 2);
    if (!entry.directories.empty()) {
      put(at + 2, type_long, 2);
      put(at + 4, entry.directories.size(), 4);
      write_directories(at + 8, entry.directories);
      return;
    }
    put(at + 2, entry.type, 2);
    put(at + 4, entry.count, 4);
    if (entry.tag == strip_offsets && !picture.empty()) pending_.push_back({at + 8, picture});
    if (entry.bytes.size() <= 4) {
      std::ranges::copy(entry.bytes, head().begin() + static_cast<std::ptrdiff_t>(at) + 8);
      return;
    }
    if (head().size() % 2) head().push_back(0);
    put(at + 8, head().size(), 4);
    head().insert(head().end(), entry.bytes.begin(), entry.bytes.end());
  }

  void write_directories(std::size_t value_at, const std::vector<TiffDirectory>& directories) {
    if (directories.size() == 1) {
      put(value_at, directory(directories.front()), 4);
      return;
    }
    if (head().size() % 2) head().push_back(0);
    const std::size_t list = head().size();
    put(value_at, list, 4);
    head().resize(list + 4 * directories.size());
    for (std::size_t i = 0; i < directories.size(); ++i)
      put(list + 4 * i, directory(directories[i]), 4);
  }

  void place_pictures() {
    constexpr std::size_t alignment = 16;
    const auto aligned = [](std::uint64_t at) {
      return (at + alignment - 1) / alignment * alignment;
    };
    std::uint64_t at = aligned(head().size());
    for (const PendingPicture& picture : pending_) {
      put(picture.offset_at, at, 4);
      parts_.pictures.push_back({at, picture.samples});
      at = aligned(at + picture.samples.size());
      if (at > std::numeric_limits<std::uint32_t>::max())
        throw BadData("a DNG file of more than 4 GiB (its offsets have 32 bits); crop the input");
    }
  }

  DirectoryFormat format_;
  TiffFileParts parts_;
  std::vector<PendingPicture> pending_;
};

/// Returns a fraction that approximates `value`. Its denominator is at most 10000.
std::array<std::int64_t, 2> fraction(double value) {
  for (std::int64_t denominator = 1; denominator < 10000; denominator *= 10) {
    const double scaled = value * static_cast<double>(denominator);
    if (std::abs(scaled - std::round(scaled)) < 1e-9) return {std::llround(scaled), denominator};
  }
  return {std::llround(value * 10000), 10000};
}

}  // namespace

const TiffEntry* TiffDirectory::find(std::uint16_t tag) const {
  const auto found = std::ranges::lower_bound(entries, tag, {}, &TiffEntry::tag);
  return found != entries.end() && found->tag == tag ? &*found : nullptr;
}

void TiffDirectory::set(TiffEntry entry) {
  const auto found = std::ranges::lower_bound(entries, entry.tag, {}, &TiffEntry::tag);
  if (found != entries.end() && found->tag == entry.tag)
    *found = std::move(entry);
  else
    entries.insert(found, std::move(entry));
}

void TiffDirectory::remove(std::uint16_t tag) {
  std::erase_if(entries, [&](const TiffEntry& entry) { return entry.tag == tag; });
}

TiffEntry TiffTree::bytes(std::uint16_t tag, std::span<const std::uint8_t> values) const {
  return {tag,
          type_byte,
          static_cast<std::uint32_t>(values.size()),
          {values.begin(), values.end()},
          {}};
}

TiffEntry TiffTree::text(std::uint16_t tag, std::string_view value) const {
  TiffEntry entry{tag,
                  type_ascii,
                  static_cast<std::uint32_t>(value.size() + 1),
                  {value.begin(), value.end()},
                  {}};
  entry.bytes.push_back(0);
  return entry;
}

TiffEntry TiffTree::shorts(std::uint16_t tag, const std::vector<std::uint16_t>& values) const {
  TiffEntry entry{tag, type_short, static_cast<std::uint32_t>(values.size()), {}, {}};
  for (const std::uint16_t value : values)
    DirectoryFormat{is_big_endian, false}.append(entry.bytes, value, 2);
  return entry;
}

TiffEntry TiffTree::longs(std::uint16_t tag, const std::vector<std::uint32_t>& values) const {
  TiffEntry entry{tag, type_long, static_cast<std::uint32_t>(values.size()), {}, {}};
  for (const std::uint32_t value : values)
    DirectoryFormat{is_big_endian, false}.append(entry.bytes, value, 4);
  return entry;
}

TiffEntry TiffTree::doubles(std::uint16_t tag, const std::vector<double>& values) const {
  TiffEntry entry{tag, type_double, static_cast<std::uint32_t>(values.size()), {}, {}};
  for (const double value : values)
    DirectoryFormat{is_big_endian, false}.append(entry.bytes, std::bit_cast<std::uint64_t>(value),
                                                 8);
  return entry;
}

TiffEntry TiffTree::rationals(std::uint16_t tag, const std::vector<double>& values,
                              bool is_signed) const {
  TiffEntry entry{tag,
                  is_signed ? type_srational : type_rational,
                  static_cast<std::uint32_t>(values.size()),
                  {},
                  {}};
  for (const double value : values)
    for (const std::int64_t part : fraction(value))
      DirectoryFormat{is_big_endian, false}.append(entry.bytes, static_cast<std::uint64_t>(part),
                                                   4);
  return entry;
}

std::vector<double> TiffTree::numbers(const TiffEntry& entry) const {
  const DirectoryFormat format{is_big_endian, false};
  std::vector<double> values;
  const int bytes = entry.type < type_bytes.size() ? type_bytes[entry.type] : 0;
  if (bytes == 0 || entry.type == type_ascii || !entry.directories.empty()) return values;
  const auto part = [&](const std::uint8_t* at, int size) {
    const auto raw = static_cast<std::uint32_t>(format.number(at, size));
    if (entry.type < 6 || entry.type == 7 || entry.type == type_directory)
      return static_cast<double>(raw);
    const int unused = 32 - 8 * size;
    return static_cast<double>(static_cast<std::int32_t>(raw << unused) >> unused);
  };
  for (std::size_t at = 0; at + bytes <= entry.bytes.size(); at += bytes) {
    const std::uint8_t* value = entry.bytes.data() + at;
    if (entry.type == type_double)
      values.push_back(std::bit_cast<double>(format.number(value, 8)));
    else if (entry.type == type_float)
      values.push_back(static_cast<double>(
          std::bit_cast<float>(static_cast<std::uint32_t>(format.number(value, 4)))));
    else if (bytes == 8)
      values.push_back(part(value + 4, 4) != 0 ? part(value, 4) / part(value + 4, 4) : 0);
    else
      values.push_back(part(value, bytes));
  }
  return values;
}

TiffTree read_tiff_tree(std::span<const std::uint8_t> file) {
  TiffTree tree;
  if (file.size() < 8) return tree;
  tree.is_big_endian = file[0] == 'M' && file[1] == 'M';
  if (!tree.is_big_endian && !(file[0] == 'I' && file[1] == 'I')) return tree;
  const DirectoryFormat format{tree.is_big_endian, false};
  if (format.number(file.data() + 2, 2) != 42) return tree;
  tree.first = TreeReader(file, tree.is_big_endian).directory(format.number(file.data() + 4, 4), 0);
  return tree;
}

TiffFileParts write_tiff_tree(const TiffTree& tree) { return TreeWriter(tree).parts(); }

}  // namespace lull::io
