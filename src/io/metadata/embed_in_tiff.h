#pragma once
// Writes metadata into TIFF files that lull writes with libtiff.

#include "io/metadata/picture_metadata.h"
#include "io/tiff/tiff_picture.h"

namespace lull::io {

/// Returns the part of `metadata` that libtiff can write: all metadata except EXIF data.
TiffMetadata tiff_metadata(const PictureMetadata& metadata);
/// Adds EXIF data to a complete TIFF file. The file must have one page, and already contain all
/// other metadata. `descriptor` must be open for reading and writing. The function needs memory for
/// two copies of the file.
/// @throws IoError
void add_exif_to_tiff(int descriptor, const PictureMetadata& metadata);

}  // namespace lull::io
