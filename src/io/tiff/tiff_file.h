#pragma once
// Examines the TIFF file with a given name: kind, pages and size.

#include <string>

#include "io/tiff/tiff_reader.h"

namespace lull::io {

/// Returns whether a name ends in .tif or .tiff in any case.
bool is_tiff_name(const std::string& path);
/// Returns whether a file begins with the signature of TIFF or BigTIFF.
bool is_tiff_file(const std::string& path);

/// Returns the number of pictures that ImageJ's description of a page states; 0 if the page has no
/// description from ImageJ.
std::uint64_t described_pictures(TIFF* page);

/// Returns whether a TIFF file is a stack of grey slices. A stack has several grey pages, a
/// description of several pictures, or samples that still pictures cannot have. Still pictures
/// cannot have signed integers, or more than 16 bits per sample. Returns false for files that are
/// not readable.
bool is_tiff_stack(const std::string& path);

/// Returns the reason why the first page of a TIFF file is incomplete: its directory or its samples
/// extend beyond the end of the file. The text is empty if there is no sign of a truncation.
std::string find_tiff_truncation(const std::string& path);

/// Returns whether at least one page after the first is neither a mask nor a reduced copy of a
/// picture. Returns false for files that are not readable.
bool has_more_tiff_pages(const std::string& path);

}  // namespace lull::io
