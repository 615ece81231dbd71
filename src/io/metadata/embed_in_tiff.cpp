#include "io/metadata/embed_in_tiff.h"

#include <unistd.h>

#include <algorithm>

#include "core/error.h"
#include "io/files/positioned_io.h"
#include "io/metadata/byte_order.h"
#include "io/metadata/formats.h"
#include "io/metadata/tiff_memory.h"

namespace lull::io {

TiffMetadata tiff_metadata(const PictureMetadata& metadata) {
  TiffMetadata tags{.icc = metadata.icc,
                    .xmp = metadata.xmp,
                    .iptc = iptc_of(metadata.photoshop),
                    .photoshop = metadata.photoshop};
  if (metadata.orientation != 1)
    tags.orientation = static_cast<std::uint16_t>(metadata.orientation);
  if (metadata.resolution) {
    tags.dots_per_inch[0] = metadata.resolution->x;
    tags.dots_per_inch[1] = metadata.resolution->y;
  }
  if (metadata.chromaticities)
    for (const std::uint32_t value : *metadata.chromaticities)
      tags.chromaticities.push_back(static_cast<float>(value) / 100000);
  return tags;
}

ByteVector embed_in_tiff(ByteView file, const PictureMetadata& metadata) {
  TiffMemory memory(file);
  memory.copy_bytes();
  {
    const TiffPtr tiff = memory.open("r+m");
    if (!tiff) throw InternalError("the encoder made a TIFF file that libtiff does not read");
    set_metadata(tiff.get(), tiff_metadata(metadata));
    if (TIFFRewriteDirectory(tiff.get()) == 0)
      throw InternalError("cannot write metadata to a TIFF file (" + memory.message() + ")");
  }
  return metadata.exif.empty() ? to_vector(memory.bytes()) : with_exif(memory.bytes(), metadata);
}

void add_exif_to_tiff(int descriptor, const PictureMetadata& metadata) {
  const off_t size = ::lseek(descriptor, 0, SEEK_END);
  ByteVector file(static_cast<std::size_t>(std::max<off_t>(size, 0)));
  if (size < 0 || !read_at(descriptor, file.data(), file.size(), 0))
    throw IoError("cannot read a TIFF file that was written");
  const ByteVector changed = with_exif(file, metadata);
  if (!write_at(descriptor, changed.data(), changed.size(), 0) ||
      ::ftruncate(descriptor, static_cast<off_t>(changed.size())) != 0)
    throw IoError("cannot write metadata to a TIFF file (the disk may be full)");
}

}  // namespace lull::io
