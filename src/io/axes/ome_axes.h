#pragma once
// The axes of OME-TIFF files (Open Microscopy Environment, OME-TIFF specification): the OME-XML in
// the first page states the sizes of the axes, their order, and which page contains which plane.

#include "io/axes/stack_axes.h"

namespace lull::io {

/// Returns whether a description is OME-XML.
[[nodiscard]] bool is_ome_xml(std::string_view description);

/// Reads the axes of a file with OME-XML. The images of a file (positions of the microscope's
/// stage) count as further channels. If the OME-XML describes several files, only the planes in
/// this file count.
/// @throws BadData  the OME-XML contradicts the pages
[[nodiscard]] StackAxes ome_axes(const DescribedPages& file);

}  // namespace lull::io
