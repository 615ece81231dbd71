// Replaces `exif_exiv2.cpp` in builds without Exiv2, and reports the loss of the metadata that need
// Exiv2.

#include "io/metadata/byte_order.h"
#include "io/metadata/exif.h"
#include "io/metadata/formats.h"

namespace lull::io {

bool has_exiv2() { return false; }
ExifFacts read_exif(ByteView) { return {}; }
ByteVector change_exif(ByteView, ExifChanges&) { return {}; }
ByteVector change_xmp(ByteView xmp, const XmpChanges&) { return to_vector(xmp); }
ByteVector with_exif(ByteView tiff, const PictureMetadata&) { return to_vector(tiff); }

void read_tiff(ByteView file, PictureMetadata& metadata) { read_tiff_tags(file, metadata); }

void read_heif(ByteView, PictureMetadata& metadata) {
  metadata.native.push_back(
      {PictureKind::other, "the metadata of HEIF (this build of lull has no Exiv2)", {}, {}});
}

}  // namespace lull::io
