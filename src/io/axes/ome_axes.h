#pragma once
// Reads the axes of OME-TIFF files. The OME-XML in the first page states the sizes and the order of
// the axes, and the page of each plane (OME-TIFF specification).

#include "io/axes/stack_axes.h"

namespace lull::io {

/// Returns whether the description of a TIFF file is OME-XML.
[[nodiscard]] bool is_ome_xml(std::string_view description);

/// Reads the axes of a file with OME-XML. Several images in a file, such as positions of the
/// microscope's stage, become further channels. The function ignores planes in other files.
/// @throws BadData  the OME-XML contradicts the pages
[[nodiscard]] StackAxes ome_axes(const DescribedPages& file);

}  // namespace lull::io
