#include "io/metadata/multi_picture.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "io/files/file_bytes.h"
#include "io/metadata/byte_order.h"

namespace lull::io {
namespace {

constexpr std::uint32_t version_tag = 0xB000, count_tag = 0xB001, entries_tag = 0xB002;
constexpr std::size_t entry_bytes = 16, header_bytes = 8, field_bytes = 12;
/// The low 24 bits of a picture's attributes are its type.
constexpr std::uint32_t kind_mask = 0xFFFFFF, main_picture = 0x030000, undefined = 0;

/// Reads numbers of a Multi-Picture index in the byte order of the index.
class Index {
 public:
  explicit Index(ByteView bytes) : bytes_(bytes), is_little_(begins_with(bytes, "II")) {}

  std::uint32_t number(std::size_t at, int count) const {
    if (at + static_cast<std::size_t>(count) > bytes_.size()) return 0;
    return is_little_ ? read_little(&bytes_[at], count) : read_big(&bytes_[at], count);
  }

  /// Returns the list of entries in the Multi-Picture index; empty if there is none.
  ByteView entries() const {
    const std::size_t directory = number(4, 4);
    const std::size_t fields = number(directory, 2);
    for (std::size_t i = 0; i < fields; ++i) {
      const std::size_t field = directory + 2 + i * field_bytes;
      if (number(field, 2) != entries_tag) continue;
      const std::size_t size = number(field + 4, 4), at = number(field + 8, 4);
      if (at > bytes_.size() || size > bytes_.size() - at) return {};
      return bytes_.subspan(at, size - size % entry_bytes);
    }
    return {};
  }
  std::size_t position_of(ByteView entries) const {
    return static_cast<std::size_t>(entries.data() - bytes_.data());
  }

 private:
  ByteView bytes_;
  bool is_little_;
};

/// Returns whether the metadata of a picture contain one of the identifiers of gain maps from
/// Adobe, Apple or ISO 21496-1.
bool is_gain_map(ByteView picture) {
  constexpr std::size_t max_metadata = 1 << 17;
  constexpr std::array<std::string_view, 3> names{"http://ns.adobe.com/hdr-gain-map/", "HDRGainMap",
                                                  "urn:iso:std:iso:ts:21496:-1"};
  const std::string_view head = text_view(picture.first(std::min(picture.size(), max_metadata)));
  return std::ranges::any_of(names,
                             [&](std::string_view name) { return head.find(name) != head.npos; });
}

/// Calls `visit(position, bytes)` for the data of each APP2 segment before the first scan of a JPEG
/// file. `read(at, to, count)` must copy `count` bytes from position `at` of the file to `to`.
template <class Read, class Visit>
void visit_segments(Read read, Visit visit) {
  std::array<std::uint8_t, 4> head;
  for (std::uint64_t at = 2; read(at, head.data(), head.size()) && head[0] == 0xFF;) {
    const std::uint8_t marker = head[1];
    const std::uint32_t length = read_big(&head[2], 2);
    if (marker == 0xDA || marker == 0xD9 || length < 2) return;
    if (marker == 0xE2) visit(at + 4, length - 2);
    at += 2 + length;
  }
}

template <class Read>
bool has_index(Read read) {
  std::array<std::uint8_t, 4> head;
  if (!read(0, head.data(), 3) || head[0] != 0xFF || head[1] != 0xD8) return false;
  bool found = false;
  visit_segments(read, [&](std::uint64_t at, std::uint32_t bytes) {
    found |= bytes > mpf_name.size() && read(at, head.data(), head.size()) &&
             text_view(head) == mpf_name;
  });
  return found;
}

}  // namespace

bool is_multi_picture_file(const std::string& path) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code)) return false;
  const std::uintmax_t size = std::filesystem::file_size(path, code);
  if (code) return false;
  FileBytes file(path, size);
  return has_index(
      [&](std::uint64_t at, void* to, std::size_t count) { return file.read(at, to, count); });
}

bool is_multi_picture(ByteView file) {
  return has_index([&](std::uint64_t at, std::uint8_t* to, std::size_t count) {
    if (at > file.size() || count > file.size() - at) return false;
    std::copy_n(file.begin() + static_cast<std::ptrdiff_t>(at), count, to);
    return true;
  });
}

std::vector<AdditionalPicture> read_pictures(ByteView file, std::size_t index_at,
                                             std::size_t index_bytes) {
  std::vector<AdditionalPicture> pictures;
  const Index index(file.subspan(index_at, index_bytes));
  const ByteView entries = index.entries();
  const std::size_t begin = entries.empty() ? 0 : index.position_of(entries);
  std::size_t remaining = file.size();  // pictures do not overlap
  for (std::size_t at = 0; at < entries.size(); at += entry_bytes) {
    const std::uint32_t attributes = index.number(begin + at, 4);
    const std::size_t size = index.number(begin + at + 4, 4);
    const std::size_t offset = index.number(begin + at + 8, 4);
    if (offset == 0) continue;  // the main picture
    const std::size_t position = index_at + offset;
    if (position > file.size() || size > file.size() - position || size < 4) continue;
    const ByteView data = file.subspan(position, size);
    if (data[0] != 0xFF || data[1] != 0xD8) continue;
    if (size > remaining) break;
    remaining -= size;
    pictures.push_back({attributes, to_vector(data), false});
  }
  // The first version of Android's Ultra HDR format identifies the gain map only in the metadata of
  // the main picture.
  const bool is_stated = is_gain_map(file.first(std::min<std::size_t>(file.size(), index_at + 1)));
  for (AdditionalPicture& picture : pictures) {
    const bool is_undefined = (picture.attributes & kind_mask) == undefined;
    picture.is_gain_map =
        is_undefined && (is_gain_map(picture.data) || pictures.size() == 1 || is_stated);
  }
  return pictures;
}

// A Multi-Picture index consists of a header, three fields and the list of entries.
std::size_t index_size(std::size_t pictures) {
  return header_bytes + 2 + 3 * field_bytes + 4 + pictures * entry_bytes;
}

ByteVector make_index(std::span<const AdditionalPicture> pictures, std::size_t main_bytes,
                      std::size_t index_at) {
  constexpr int undefined_type = 7, long_type = 4;
  const auto count = static_cast<std::uint32_t>(pictures.size() + 1);
  ByteVector index;
  append(index, std::string_view{"MM\0*", 4});
  append_big(index, header_bytes, 4);
  append_big(index, 3, 2);
  const auto field = [&](std::uint32_t tag, std::uint32_t type, std::uint32_t number) {
    append_big(index, tag, 2);
    append_big(index, type, 2);
    append_big(index, number, 4);
  };
  field(version_tag, undefined_type, 4);
  append(index, "0100");
  field(count_tag, long_type, 1);
  append_big(index, count, 4);
  field(entries_tag, undefined_type, count * entry_bytes);
  append_big(index, static_cast<std::uint32_t>(index.size() + 8), 4);
  append_big(index, 0, 4);  // no further directory
  const auto entry = [&](std::uint32_t attributes, std::size_t size, std::size_t offset) {
    append_big(index, attributes, 4);
    append_big(index, static_cast<std::uint32_t>(size), 4);
    append_big(index, static_cast<std::uint32_t>(offset), 4);
    append_big(index, 0, 4);  // no dependent pictures
  };
  entry(main_picture, main_bytes, 0);
  std::size_t position = main_bytes;
  for (const AdditionalPicture& picture : pictures) {
    entry(picture.attributes, picture.data.size(), position - index_at);
    position += picture.data.size();
  }
  return index;
}

}  // namespace lull::io
