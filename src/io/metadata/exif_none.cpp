// Replaces `exif_exiv2.cpp` in builds without Exiv2, and reports the loss of the metadata that need
// Exiv2.

#include "io/metadata/byte_order.h"
#include "io/metadata/exif.h"
#include "io/metadata/formats.h"
#include "io/metadata/tiff_memory.h"

namespace lull::io {

bool has_exiv2() { return false; }
ExifFacts read_exif(ByteView) { return {}; }
ByteVector change_exif(ByteView, ExifChanges&) { return {}; }
ByteVector change_xmp(ByteView xmp, const XmpChanges&) { return to_vector(xmp); }
ByteVector with_exif(ByteView tiff, const PictureMetadata&) { return to_vector(tiff); }

void read_tiff(ByteView file, PictureMetadata& metadata) {
  TiffMemory memory(file);
  const TiffPtr tiff = memory.open("rm", std::ptrdiff_t{1} << 26);
  if (!tiff) return;
  std::uint64_t directory = 0;
  std::uint32_t bytes = 0;
  const void* data = nullptr;
  const auto report = [&](bool present, const char* name) {
    if (present) metadata.native.push_back({PictureKind::other, name, {}, {}});
  };
  report(TIFFGetField(tiff.get(), TIFFTAG_EXIFIFD, &directory) != 0, "the EXIF metadata of TIFF");
  report(TIFFGetField(tiff.get(), TIFFTAG_XMLPACKET, &bytes, &data) != 0,
         "the XMP metadata of TIFF");
  report(TIFFGetField(tiff.get(), TIFFTAG_RICHTIFFIPTC, &bytes, &data) != 0,
         "the IPTC metadata of TIFF");
  report(TIFFGetField(tiff.get(), TIFFTAG_ICCPROFILE, &bytes, &data) != 0,
         "the ICC profile of TIFF");
}

void read_heif(ByteView, PictureMetadata& metadata) {
  metadata.native.push_back(
      {PictureKind::other, "the metadata of HEIF (this build of lull has no Exiv2)", {}, {}});
}

}  // namespace lull::io
