#pragma once
// The levels of a pyramid: copies of an image with fewer samples.

#include <string>

#include "io/files/output_folder.h"
#include "io/zarr/zarr_image.h"

namespace lull::io {

/// Checks that each level of an image can be computed from the previous level.
/// @throws BadData  the numbers of channels or time points of the levels differ, or a level has
///     more samples along an axis than the previous level
void check_pyramid(const ZarrImage& image);

/// Writes a level of means of blocks of the previous level. The sizes of the two levels determine
/// the sizes of the blocks. Samples that are not finite do not count. A block without finite
/// samples becomes NaN, or 0 in integer types.
/// @param from   the previous level, whose folder lies in `output`
/// @param to     the level, whose folder lies in `output`
/// @param input  the input's array of this level; null if there is none (ZarrPlaneWriter)
/// @throws IoError
void write_level(OutputFolder& output, const ZarrLevel& from, const ZarrLevel& to,
                 const ZarrArray* input, const std::string& scratch);

}  // namespace lull::io
