#include "io/metadata/tiff_memory.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <utility>

#include "io/metadata/byte_order.h"
#include "io/metadata/formats.h"

namespace lull::io {
namespace {

int close_memory(thandle_t) { return 0; }
int no_map(thandle_t, void**, toff_t*) { return 0; }
void no_unmap(thandle_t, void*, toff_t) {}

/// TIFF tags that contain texts, and the keywords for these texts.
constexpr std::pair<std::uint32_t, const char*> text_tags[] = {
    {TIFFTAG_IMAGEDESCRIPTION, "Description"},
    {TIFFTAG_ARTIST, "Author"},
    {TIFFTAG_COPYRIGHT, "Copyright"},
    {TIFFTAG_SOFTWARE, "Software"},
    {TIFFTAG_MAKE, "Make"},
    {TIFFTAG_MODEL, "Source"},
    {TIFFTAG_DATETIME, "DateTime"}};

ByteVector tag_bytes(TIFF* page, std::uint32_t tag) {
  std::uint32_t count = 0;
  const void* data = nullptr;
  if (TIFFGetField(page, tag, &count, &data) == 0 || count == 0) return {};
  return to_vector({static_cast<const std::uint8_t*>(data), count});
}

std::optional<Resolution> resolution_of(TIFF* page) {
  const auto unit = tiff_tag<std::uint16_t>(page, TIFFTAG_RESOLUTIONUNIT, RESUNIT_INCH);
  const double scale = unit == RESUNIT_CENTIMETER ? 2.54 : 1;
  const Resolution found{scale * tiff_tag<float>(page, TIFFTAG_XRESOLUTION, 0),
                         scale * tiff_tag<float>(page, TIFFTAG_YRESOLUTION, 0)};
  const auto is_valid = [](double value) { return value > 0 && std::isfinite(value); };
  if (unit == RESUNIT_NONE || !is_valid(found.x) || !is_valid(found.y)) return std::nullopt;
  return found;
}

bool has_directory(TIFF* page, std::uint32_t tag) {
  std::uint64_t at = 0;
  return TIFFGetField(page, tag, &at) != 0;
}

void read_texts(TIFF* page, PictureMetadata& metadata) {
  for (const auto& [tag, keyword] : text_tags)
    if (const char* text = nullptr; TIFFGetField(page, tag, &text) != 0 && *text != 0)
      metadata.texts.push_back({keyword, to_utf8(byte_view(text)), {}, {}});
}

}  // namespace

void TiffMemory::copy_bytes() {
  written_.assign(bytes_.begin(), bytes_.end());
  bytes_ = written_;
}

TiffPtr TiffMemory::open(const char* mode, tmsize_t max_bytes) {
  return TiffPtr(TIFFClientOpenExt("memory", mode, this, read, write, seek, close_memory, size_of,
                                   no_map, no_unmap, tiff_options(message_, max_bytes).get()));
}

tmsize_t TiffMemory::read(thandle_t self, void* to, tmsize_t size) {
  auto& m = *static_cast<TiffMemory*>(self);
  const std::size_t left = m.at_ < m.bytes_.size() ? m.bytes_.size() - m.at_ : 0;
  const std::size_t count = std::min(left, static_cast<std::size_t>(size));
  if (count > 0) std::memcpy(to, m.bytes_.data() + m.at_, count);
  m.at_ += count;
  return static_cast<tmsize_t>(count);
}

tmsize_t TiffMemory::write(thandle_t self, void* from, tmsize_t size) {
  auto& m = *static_cast<TiffMemory*>(self);
  const std::size_t end = m.at_ + static_cast<std::size_t>(size);
  try {
    if (end > m.written_.size()) m.written_.resize(end);
  } catch (const std::exception&) {
    return -1;
  }
  std::memcpy(m.written_.data() + m.at_, from, static_cast<std::size_t>(size));
  m.at_ = end;
  m.bytes_ = m.written_;
  return size;
}

toff_t TiffMemory::seek(thandle_t self, toff_t offset, int whence) {
  auto& m = *static_cast<TiffMemory*>(self);
  const toff_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? m.at_ : m.bytes_.size();
  return m.at_ = base + offset;
}

toff_t TiffMemory::size_of(thandle_t self) { return static_cast<TiffMemory*>(self)->bytes_.size(); }

void read_tiff_tags(ByteView file, PictureMetadata& metadata) {
  constexpr std::ptrdiff_t max_bytes = 1 << 26;
  TiffMemory memory(file);
  const TiffPtr tiff = memory.open("rm", max_bytes);
  if (!tiff) return;
  TIFF* const page = tiff.get();
  metadata.icc = tag_bytes(page, TIFFTAG_ICCPROFILE);
  metadata.xmp = tag_bytes(page, TIFFTAG_XMLPACKET);
  metadata.photoshop = tag_bytes(page, TIFFTAG_PHOTOSHOP);
  metadata.resolution = resolution_of(page);
  const auto orientation = tiff_tag<std::uint16_t>(page, TIFFTAG_ORIENTATION, 1);
  if (orientation >= 1 && orientation <= 8) metadata.orientation = orientation;
  read_texts(page, metadata);
  const auto report = [&](const char* name) {
    metadata.native.push_back({PictureKind::other, name, {}, {}});
  };
  if (has_directory(page, TIFFTAG_EXIFIFD) || has_directory(page, TIFFTAG_GPSIFD))
    report("the EXIF metadata of TIFF");
  // lull does not read the IPTC tag of TIFF, because versions of libtiff state its size in
  // different units.
  if (!tag_bytes(page, TIFFTAG_RICHTIFFIPTC).empty() && iptc_of(metadata.photoshop).empty())
    report("the IPTC metadata of TIFF");
}

}  // namespace lull::io
