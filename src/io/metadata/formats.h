#pragma once
// Functions that read and write the metadata of one file format each.

#include <string_view>

#include "io/metadata/picture_metadata.h"

namespace lull::io {

void read_jpeg(ByteView file, PictureMetadata& metadata);
void read_png(ByteView file, PictureMetadata& metadata);
void read_dpx(ByteView file, PictureMetadata& metadata);
void read_webp(ByteView file, PictureMetadata& metadata);
void read_jpeg_xl(ByteView file, PictureMetadata& metadata);
/// Reads the metadata of a TIFF file with Exiv2. Builds without Exiv2 use read_tiff_tags() instead.
/// The function also uses read_tiff_tags() for BigTIFF files, because Exiv2 does not support them.
void read_tiff(ByteView file, PictureMetadata& metadata);
/// Reads the metadata in the tags of a TIFF file with libtiff. The function does not read EXIF and
/// GPS data, and reports their loss.
void read_tiff_tags(ByteView file, PictureMetadata& metadata);
/// Reads the metadata of a HEIF file with Exiv2. Builds without Exiv2 only report the loss of the
/// metadata.
void read_heif(ByteView file, PictureMetadata& metadata);

/// Returns the orientation of a HEIF file's primary picture.
int heif_orientation(ByteView file);

ByteVector embed_in_jpeg(ByteView file, const PictureMetadata& metadata);
ByteVector embed_in_png(ByteView file, const PictureMetadata& metadata);
ByteVector embed_in_dpx(ByteView file, const PictureMetadata& metadata);
ByteVector embed_in_webp(ByteView file, const PictureMetadata& metadata);
ByteVector embed_in_tiff(ByteView file, const PictureMetadata& metadata);

/// Returns a copy of the file `tiff` with the EXIF, XMP and IPTC data of `metadata`. Tags about
/// samples do not change. In builds without Exiv2, the copy equals the file.
/// @throws IoError
ByteVector with_exif(ByteView tiff, const PictureMetadata& metadata);

/// Maximum sizes in bytes of EXIF and XMP data in one JPEG segment, whose length field has 16 bits.
constexpr std::size_t max_jpeg_exif = 65533 - 6, max_jpeg_xmp = 65533 - 29;

/// Converts Latin-1 to UTF-8.
std::string from_latin1(ByteView bytes);
/// Converts bytes to UTF-8. Bytes that are not valid UTF-8 count as Latin-1.
std::string to_utf8(ByteView bytes);
/// Converts a UTF-8 string to Latin-1; nullopt if a character is not in Latin-1.
std::optional<std::string> to_latin1(std::string_view utf8);

/// Returns the IPTC data in Photoshop's resource blocks; empty if there are none.
ByteVector iptc_of(ByteView photoshop);
/// Returns Photoshop resource blocks that contain only the IPTC data `iptc`.
ByteVector photoshop_of(ByteView iptc);
/// Returns Photoshop's resource blocks without the thumbnails, which show the picture before
/// denoising.
ByteVector without_thumbnails(ByteView photoshop);

}  // namespace lull::io
