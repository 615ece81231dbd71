#include "io/stacks/tiff_levels.h"

#include "core/error.h"
#include "io/pyramid/block_means.h"
#include "io/stacks/tiff_slice.h"

namespace lull::io {
namespace {

PlaneSize plane_size(const TiffLayout& layout) {
  return {.width = layout.width, .height = layout.height};
}

}  // namespace

int TiffLevels::find(const TiffReader& page, const TiffLayout& layout, std::int64_t number) {
  constexpr int max_levels = 64;  // a side of 2^31 samples has 31 halves
  page_ = number;
  offsets_.clear();
  layouts_.clear();
  std::uint16_t count = 0;
  const std::uint64_t* stated = nullptr;
  if (!TIFFGetField(page.handle(), TIFFTAG_SUBIFD, &count, &stated) || count > max_levels) return 0;
  const std::vector<std::uint64_t> offsets(stated, stated + count);
  for (const std::uint64_t offset : offsets)
    if (!is_copy(offset, layouts_.empty() ? layout : layouts_.back())) {
      offsets_.clear();
      break;
    }
  return static_cast<int>(offsets_.size());
}

bool TiffLevels::is_copy(std::uint64_t offset, const TiffLayout& before) {
  try {
    reader_.go_to(offset, page_);
    const TiffLayout layout = reader_.layout();
    TiffLayout same_size = layout;
    same_size.width = before.width;
    same_size.height = before.height;
    if (same_size != before || layout.width > before.width || layout.height > before.height)
      return false;
    offsets_.push_back(offset);
    layouts_.push_back(layout);
    return true;
  } catch (const BadData&) {
    return false;  // a damaged sub-image is lost, with a warning
  }
}

void TiffLevels::write(TiffWriter& writer, const TiffLayout& layout,
                       std::span<const std::byte> samples) {
  write_copies(writer, layout, samples, layouts_, [&](std::size_t i) {
    reader_.go_to(offsets_[i], page_);
    writer.copy_level_tags(reader_, layouts_[i]);
  });
}

void write_copies(TiffWriter& writer, const TiffLayout& layout, std::span<const std::byte> samples,
                  std::span<const TiffLayout> copies,
                  const std::function<void(std::size_t)>& set_tags) {
  const StoredFormat format{.type = type_of(layout)};
  TiffLayout before = layout;
  std::vector<std::byte> stored, level;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    PlaneMeans means(plane_size(before), plane_size(copies[i]));
    means.clear();
    means.add(i == 0 ? samples : stored, format);
    const std::vector<double>& reduced = means.means();
    level.resize(reduced.size() * static_cast<std::size_t>(size_of(format.type)));
    store_values(reduced, format, level);
    set_tags(i);
    write_slice(writer, copies[i], level);
    stored.swap(level);
    before = copies[i];
  }
}

}  // namespace lull::io
