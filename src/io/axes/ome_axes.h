#pragma once
// Reads the axes of OME-TIFF files from the OME-XML in the first page (OME-TIFF specification).

#include "io/axes/stack_axes.h"

namespace lull::io {

/// Returns whether the description of a TIFF file is OME-XML.
[[nodiscard]] bool is_ome_xml(std::string_view description);

/// Reads the axes from OME-XML. Further images of the file, such as stage positions, become
/// channels. The function ignores planes in other files.
/// @throws BadData  the OME-XML contradicts the pages
[[nodiscard]] StackAxes ome_axes(const DescribedPages& file);

}  // namespace lull::io
