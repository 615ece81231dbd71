#pragma once
// Pyramid levels: downsampled copies of an image.

#include <string>

#include "io/files/output_folder.h"
#include "io/zarr/zarr_image.h"

namespace lull::io {

/// Checks that each pyramid level can be a downsampled copy of the previous level.
/// @throws BadData  the numbers of channels or time points of the levels differ, or a level has
///     more samples along an axis than the previous level
void check_pyramid(const ZarrImage& image);

/// Writes a pyramid level. Each sample is the mean of the finite samples in a block of the previous
/// level. A block without finite samples becomes NaN, or 0 in integer types.
/// @param from, to  the previous and the written level; both have folders in `output`
/// @param input  the input's array of this level; may be null
/// @throws IoError
void write_level(OutputFolder& output, const ZarrLevel& from, const ZarrLevel& to,
                 const ZarrArray* input, const std::string& scratch);

}  // namespace lull::io
