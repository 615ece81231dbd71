#include "io/dicom/fragments.h"

#include <dcmtk/dcmdata/dcpxitem.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace lull::io {
namespace {

using Bytes = std::span<const std::uint8_t>;

/// Returns the bytes of item `number`; nullopt if DCMTK cannot read the item.
std::optional<Bytes> item_bytes(DcmPixelSequence& items, unsigned long number) {
  DcmPixelItem* item = nullptr;
  Uint8* bytes = nullptr;
  if (items.getItem(item, number).bad() || !item) return std::nullopt;
  if (item->getLength() == 0) return Bytes();
  if (item->getUint8Array(bytes).bad() || !bytes) return std::nullopt;
  return Bytes(bytes, item->getLength());
}

std::uint64_t offset_at(Bytes table, std::size_t number) {
  std::uint64_t value = 0;
  for (std::size_t i = 4; i-- > 0;) value = value << 8 | table[4 * number + i];
  return value;
}

bool begins_codestream(Bytes fragment) {
  constexpr std::array<std::uint8_t, 4> first_markers{0xff, 0x4f, 0xff, 0x51};
  return fragment.size() >= first_markers.size() &&
         std::ranges::equal(fragment.first(first_markers.size()), first_markers);
}

/// Returns whether frame `frame` begins with the fragment at `position`, in bytes from the first
/// fragment.
bool begins_frame(Bytes table, Bytes fragment, std::uint64_t position, std::size_t frame) {
  if (table.empty()) return begins_codestream(fragment);
  return 4 * frame < table.size() && offset_at(table, frame) == position;
}

}  // namespace

std::optional<std::vector<std::uint8_t>> bytes_of_frame(DcmPixelSequence& fragments, int frames,
                                                        int frame) {
  constexpr std::uint64_t item_header_bytes = 8;
  const unsigned long items = fragments.card();
  const std::optional<Bytes> table = items > 0 ? item_bytes(fragments, 0) : std::nullopt;
  if (!table) return std::nullopt;
  const auto count = static_cast<std::size_t>(frames);
  // The offset table is optional if the image has one frame, or if each frame is one fragment.
  const bool has_one_each = items == count + 1;
  if (frames > 1 && !has_one_each && !table->empty() && table->size() != 4 * count)
    return std::nullopt;
  std::vector<std::uint8_t> bytes;
  std::uint64_t position = 0;
  std::size_t begun = 0;  // number of frames that have begun
  for (unsigned long n = 1; n < items; ++n) {
    const std::optional<Bytes> fragment = item_bytes(fragments, n);
    if (!fragment) return std::nullopt;
    const bool begins =
        frames == 1 ? n == 1 : has_one_each || begins_frame(*table, *fragment, position, begun);
    if (begins) ++begun;
    if (begun == static_cast<std::size_t>(frame) + 1)
      bytes.insert(bytes.end(), fragment->begin(), fragment->end());
    position += fragment->size() + item_header_bytes;
  }
  return begun == count ? std::optional(std::move(bytes)) : std::nullopt;
}

}  // namespace lull::io
