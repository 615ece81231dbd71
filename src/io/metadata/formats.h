#pragma once
// Readers and writers of metadata for single file formats.

#include <string_view>

#include "io/metadata/picture_metadata.h"

namespace lull::io {

void read_jpeg(ByteView file, PictureMetadata& metadata);
void read_png(ByteView file, PictureMetadata& metadata);
void read_dpx(ByteView file, PictureMetadata& metadata);
void read_webp(ByteView file, PictureMetadata& metadata);
void read_jpeg_xl(ByteView file, PictureMetadata& metadata);
/// Exiv2 reads the metadata of TIFF and HEIF files. In a build without Exiv2, these functions only
/// report such metadata as lost.
void read_tiff(ByteView file, PictureMetadata& metadata);
void read_heif(ByteView file, PictureMetadata& metadata);

/// Returns the orientation that a HEIF file states for its primary picture.
int heif_orientation(ByteView file);

ByteVector embed_in_jpeg(ByteView file, const PictureMetadata& metadata);
ByteVector embed_in_png(ByteView file, const PictureMetadata& metadata);
ByteVector embed_in_dpx(ByteView file, const PictureMetadata& metadata);
ByteVector embed_in_webp(ByteView file, const PictureMetadata& metadata);
ByteVector embed_in_tiff(ByteView file, const PictureMetadata& metadata);

/// Returns the file `tiff` with the EXIF data, XMP packet and IPTC data of `metadata` added. Exiv2
/// writes the data and keeps all tags that describe samples. The caller must not call this function
/// in a build without Exiv2.
/// @throws IoError
ByteVector with_exif(ByteView tiff, const PictureMetadata& metadata);

/// Maximum sizes of the EXIF data and the XMP packet in one JPEG segment, whose length field has 16
/// bits.
constexpr std::size_t max_jpeg_exif = 65533 - 6, max_jpeg_xmp = 65533 - 29;

/// Converts Latin-1 to UTF-8.
std::string from_latin1(ByteView bytes);
/// Returns the bytes as UTF-8. Valid UTF-8 is returned unchanged; other bytes are read as Latin-1.
std::string to_utf8(ByteView bytes);
/// Returns the text in Latin-1; nullopt if Latin-1 does not have all its characters.
std::optional<std::string> to_latin1(std::string_view utf8);

/// Returns the data of the IPTC block among Photoshop's resource blocks; empty if there is none.
ByteVector iptc_of(ByteView photoshop);
/// Returns Photoshop resource blocks that contain only the given IPTC data.
ByteVector photoshop_of(ByteView iptc);
/// Returns the resource blocks without the thumbnails, which show the samples before denoising.
ByteVector without_thumbnails(ByteView photoshop);

}  // namespace lull::io
