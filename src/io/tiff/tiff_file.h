#pragma once
// Examines the TIFF file with a given name: its kind, its pages and its size.

#include <string>

#include "io/tiff/tiff_reader.h"

namespace lull::io {

/// Returns whether a name ends in .tif or .tiff, ignoring case.
bool is_tiff_name(const std::string& path);
/// Returns whether a file begins with the signature of TIFF or BigTIFF.
bool is_tiff_file(const std::string& path);

/// Returns the number of pictures that ImageJ's description of a page states; 0 if the page has no
/// description by ImageJ.
std::uint64_t described_pictures(TIFF* page);

/// Returns whether a TIFF file is a stack of grey slices. A stack has several grey pages, or one
/// grey page in two cases: the description of the page states several pictures, or the samples do
/// not fit in pictures (signed integers, or more than 16 bits except half floats). Returns false
/// for files that cannot be read.
bool is_tiff_stack(const std::string& path);

/// Returns why the first page of a TIFF file cannot be complete: its directory or its samples
/// extend beyond the end of the file. The text is empty if there is no sign of a truncation.
std::string find_tiff_truncation(const std::string& path);

/// Returns whether the file has further pages that are neither reduced copies of a picture nor
/// masks; false for files that cannot be read.
bool has_more_tiff_pages(const std::string& path);

}  // namespace lull::io
