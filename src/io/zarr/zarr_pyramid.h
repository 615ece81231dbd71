#pragma once
// The levels of a pyramid. A level is a copy of the image with fewer samples.

#include <string>

#include "io/files/output_folder.h"
#include "io/zarr/zarr_image.h"

namespace lull::io {

/// Checks whether each level of an image can consist of means of the previous level.
/// @throws BadData  the numbers of channels or time points of the levels differ, or a level has
///     more samples along an axis than the previous level
void check_pyramid(const ZarrImage& image);

/// Writes a level whose samples are means of blocks of the previous level. The sizes of both levels
/// determine the sizes of the blocks. The means ignore samples that are not finite. A block without
/// finite samples becomes NaN, or 0 in integer types.
/// @param from, to  both levels, whose folders are in `output`
/// @param input     the input's array of this level; may be null
/// @throws IoError
void write_level(OutputFolder& output, const ZarrLevel& from, const ZarrLevel& to,
                 const ZarrArray* input, const std::string& scratch);

}  // namespace lull::io
