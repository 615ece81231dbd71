// A build without Exiv2.

#include "io/metadata/byte_order.h"
#include "io/metadata/exif.h"
#include "io/metadata/formats.h"

namespace lull::io {

bool has_exiv2() { return false; }
ExifFacts read_exif(ByteView) { return {}; }
ByteVector change_exif(ByteView, ExifChanges&) { return {}; }
ByteVector change_xmp(ByteView xmp, const XmpChanges&) { return to_vector(xmp); }
void read_tiff(ByteView, PictureMetadata&) {}
void read_heif(ByteView, PictureMetadata&) {}
ByteVector embed_in_tiff(ByteView file, const PictureMetadata&) { return to_vector(file); }

}  // namespace lull::io
