#pragma once
// The levels of a pyramid: copies of an image with fewer samples.

#include <string>

#include "io/files/output_folder.h"
#include "io/zarr/zarr_image.h"

namespace lull::io {

/// Checks that each level of an image can be made of the level before.
/// @throws BadData  a level has other channels or time points, or more samples along an axis
void check_pyramid(const ZarrImage& image);

/// Writes a level that consists of the means of blocks of the level before. The sizes of the blocks
/// follow from the sizes of the two levels. Samples that are not finite do not count; a block
/// without finite samples becomes NaN, or 0 in integer types.
/// @param from   the level before, in the output
/// @param to     the level, whose folder lies in `output`
/// @param input  the array of the input at this level; null: there is none (ZarrPlaneWriter)
/// @throws IoError
void write_level(OutputFolder& output, const ZarrLevel& from, const ZarrLevel& to,
                 const ZarrArray* input, const std::string& scratch);

}  // namespace lull::io
