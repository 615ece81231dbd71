#pragma once
// Writes metadata into TIFF files that lull writes with libtiff.

#include "io/metadata/picture_metadata.h"
#include "io/tiff/tiff_picture.h"

namespace lull::io {

/// Returns the part of the metadata that libtiff can write: everything except EXIF data.
TiffMetadata tiff_metadata(const PictureMetadata& metadata);
/// Adds EXIF data to a complete TIFF file of one page. The caller must have written all other
/// metadata. `descriptor` must be open for reading and writing. The function needs memory for two
/// copies of the file.
/// @throws IoError
void add_exif_to_tiff(int descriptor, const PictureMetadata& metadata);

}  // namespace lull::io
