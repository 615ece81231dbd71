// Reads the orientation of HEIF files (ISO/IEC 23008-12) from the properties irot and imir of the
// primary item. FFmpeg 5.1 ignores these properties.

#include <optional>
#include <vector>

#include "io/metadata/byte_order.h"
#include "io/metadata/formats.h"
#include "io/metadata/orientation.h"

namespace lull::io {
namespace {

struct Box {
  std::string_view type;
  ByteView data;
};

/// Removes and returns the first box of `bytes`; nullopt at the end.
std::optional<Box> take_box(ByteView& bytes) {
  if (bytes.size() < 8) return std::nullopt;
  std::size_t size = read_big(bytes.data(), 4), head = 8;
  if (size == 1 && bytes.size() >= 16) {
    size = std::size_t{read_big(&bytes[8], 4)} << 32 | read_big(&bytes[12], 4);
    head = 16;
  }
  if (size == 0) size = bytes.size();
  if (size < head || size > bytes.size()) return std::nullopt;
  const Box box{text_view(bytes.subspan(4, 4)), bytes.subspan(head, size - head)};
  bytes = bytes.subspan(size);
  return box;
}

/// Returns the data of the first box of type `type`; empty if there is none.
ByteView find_box(ByteView bytes, std::string_view type) {
  while (const std::optional<Box> box = take_box(bytes))
    if (box->type == type) return box->data;
  return {};
}

/// Removes and returns a big-endian number of `count` bytes at the beginning of `bytes`; 0 if
/// `bytes` is too short.
std::uint32_t take_number(ByteView& bytes, int count) {
  if (bytes.size() < static_cast<std::size_t>(count)) {
    bytes = {};
    return 0;
  }
  const std::uint32_t number = read_big(bytes.data(), count);
  bytes = bytes.subspan(static_cast<std::size_t>(count));
  return number;
}

/// Returns the EXIF orientation of a property. irot counts anticlockwise rotations by 90 degrees.
/// imir exchanges top and bottom (0) or left and right (1).
int orientation_of(const Box& box) {
  if (box.data.empty()) return 1;
  constexpr int turns[] = {1, 8, 3, 6};
  if (box.type == "irot") return turns[box.data[0] & 3];
  if (box.type == "imir") return (box.data[0] & 1) != 0 ? 2 : 4;
  return 1;
}

constexpr std::uint32_t max_properties = 0x7FFF;  // the largest number in the box "ipma"

/// Returns the orientations of the properties in the box "ipco".
std::vector<int> orientations_of(ByteView properties) {
  std::vector<int> orientations;
  while (orientations.size() < max_properties) {
    const std::optional<Box> box = take_box(properties);
    if (!box) break;
    orientations.push_back(orientation_of(*box));
  }
  return orientations;
}

}  // namespace

int heif_orientation(ByteView file) {
  const ByteView meta = find_box(file, "meta");
  if (meta.size() < 4) return 1;
  const ByteView boxes = meta.subspan(4);
  ByteView primary = find_box(boxes, "pitm");
  const bool has_long_ids = take_number(primary, 4) >> 24 != 0;
  const std::uint32_t item = take_number(primary, has_long_ids ? 4 : 2);
  const ByteView all = find_box(boxes, "iprp");
  const std::vector<int> properties = orientations_of(find_box(all, "ipco"));
  ByteView links = find_box(all, "ipma");
  const std::uint32_t head = take_number(links, 4);
  const std::uint32_t entries = take_number(links, 4);
  int orientation = 1;
  for (std::uint32_t i = 0; i < entries && !links.empty(); ++i) {
    const bool is_primary = take_number(links, head >> 24 != 0 ? 4 : 2) == item;
    const std::uint32_t count = take_number(links, 1);
    for (std::uint32_t k = 0; k < count; ++k) {
      const bool has_long_numbers = (head & 1) != 0;
      const std::uint32_t number =  // from 1; 0 is no property
          take_number(links, has_long_numbers ? 2 : 1) & (has_long_numbers ? max_properties : 0x7F);
      if (is_primary && number >= 1 && number <= properties.size())
        orientation = combined_orientation(orientation, properties[number - 1]);
    }
  }
  return orientation;
}

}  // namespace lull::io
