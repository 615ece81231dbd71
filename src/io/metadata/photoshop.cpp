// Reads and writes Photoshop's image resource blocks, which contain IPTC data (Adobe Photoshop File
// Formats Specification, "Image Resources Section").

#include "io/metadata/byte_order.h"
#include "io/metadata/formats.h"

namespace lull::io {
namespace {

constexpr std::uint32_t iptc = 0x0404, old_thumbnail = 0x0409, thumbnail = 0x040C;
constexpr std::string_view signature = "8BIM";

template <class Visit>
void visit_blocks(ByteView blocks, Visit visit) {
  for (std::size_t at = 0;
       at + 12 <= blocks.size() && begins_with(blocks.subspan(at), signature);) {
    const std::uint32_t number = read_big(&blocks[at + 4], 2);
    const std::size_t name = 1 + blocks[at + 6];
    const std::size_t size_at = at + 6 + name + name % 2;
    if (size_at + 4 > blocks.size()) return;
    const std::size_t size = read_big(&blocks[size_at], 4);
    if (size > blocks.size() - size_at - 4) return;
    const std::size_t end = std::min(size_at + 4 + size + size % 2, blocks.size());
    visit(number, blocks.subspan(size_at + 4, size), blocks.subspan(at, end - at));
    at = end;
  }
}

}  // namespace

ByteVector iptc_of(ByteView photoshop) {
  ByteVector found;
  visit_blocks(photoshop, [&](std::uint32_t number, ByteView data, ByteView) {
    if (number == iptc && found.empty()) found = to_vector(data);
  });
  return found;
}

ByteVector photoshop_of(ByteView data) {
  ByteVector block;
  if (data.empty()) return block;
  append(block, signature);
  append_big(block, iptc, 2);
  append_big(block, 0, 2);  // no name
  append_big(block, static_cast<std::uint32_t>(data.size()), 4);
  append(block, data);
  if (data.size() % 2 != 0) block.push_back(0);
  return block;
}

ByteVector without_thumbnails(ByteView photoshop) {
  ByteVector kept;
  visit_blocks(photoshop, [&](std::uint32_t number, ByteView, ByteView block) {
    if (number != old_thumbnail && number != thumbnail) append(kept, block);
  });
  return kept;
}

}  // namespace lull::io
