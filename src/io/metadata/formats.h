#pragma once
// Metadata in the structures of single formats.

#include <string_view>

#include "io/metadata/picture_metadata.h"

namespace lull::io {

void read_jpeg(ByteView file, PictureMetadata& metadata);
void read_png(ByteView file, PictureMetadata& metadata);
void read_dpx(ByteView file, PictureMetadata& metadata);
void read_webp(ByteView file, PictureMetadata& metadata);
void read_jpeg_xl(ByteView file, PictureMetadata& metadata);
/// TIFF and HEIF are read with Exiv2. Without it, these functions do nothing.
void read_tiff(ByteView file, PictureMetadata& metadata);
void read_heif(ByteView file, PictureMetadata& metadata);

/// Returns the orientation that a HEIF file states for its primary picture.
int heif_orientation(ByteView file);

ByteVector embed_in_jpeg(ByteView file, const PictureMetadata& metadata);
ByteVector embed_in_png(ByteView file, const PictureMetadata& metadata);
ByteVector embed_in_dpx(ByteView file, const PictureMetadata& metadata);
ByteVector embed_in_webp(ByteView file, const PictureMetadata& metadata);
ByteVector embed_in_tiff(ByteView file, const PictureMetadata& metadata);

/// Returns a TIFF file with the EXIF data, XMP packet and IPTC data of `metadata`. Exiv2 writes
/// them and keeps all tags that describe samples. Must not be called without Exiv2.
/// @throws IoError
ByteVector with_exif(ByteView tiff, const PictureMetadata& metadata);

/// Maximum sizes of what fits in one segment of a JPEG file, whose length has 16 bits.
constexpr std::size_t max_jpeg_exif = 65533 - 6, max_jpeg_xmp = 65533 - 29;

/// Converts Latin-1 to UTF-8.
std::string from_latin1(ByteView bytes);
/// Converts bytes to UTF-8: they are kept if they are valid UTF-8, and otherwise read as Latin-1.
std::string to_utf8(ByteView bytes);
/// Returns the text in Latin-1; nullopt if it has other characters.
std::optional<std::string> to_latin1(std::string_view utf8);

/// Returns the data of an IPTC resource block; empty if there is none.
ByteVector iptc_of(ByteView photoshop);
/// Returns resource blocks that contain only IPTC data.
ByteVector photoshop_of(ByteView iptc);
/// Returns the resource blocks without thumbnails, which show the samples of the old picture.
ByteVector without_thumbnails(ByteView photoshop);

}  // namespace lull::io
