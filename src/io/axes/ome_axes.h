#pragma once
// Reads the axes of OME-TIFF files (Open Microscopy Environment, OME-TIFF specification). The
// OME-XML in the first page states the sizes of the axes, the order of the axes, and which page
// contains which plane.

#include "io/axes/stack_axes.h"

namespace lull::io {

/// Returns whether the description of a TIFF file is OME-XML.
[[nodiscard]] bool is_ome_xml(std::string_view description);

/// Reads the axes of a file with OME-XML. If a file contains several images (positions of the
/// microscope's stage), the function treats their channels as further channels. If the OME-XML
/// describes several files, the function uses only the planes in this file.
/// @throws BadData  the OME-XML contradicts the pages
[[nodiscard]] StackAxes ome_axes(const DescribedPages& file);

}  // namespace lull::io
