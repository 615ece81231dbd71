#pragma once
// Checks of TIFF files by name: their kind, pages and size.

#include <string>

#include "io/tiff/tiff_reader.h"

namespace lull::io {

/// Returns whether a name ends in .tif or .tiff, ignoring case.
bool is_tiff_name(const std::string& path);
/// Returns whether a file begins with the signature of TIFF or BigTIFF.
bool is_tiff_file(const std::string& path);

/// Returns the number of pictures in ImageJ's description of a page; 0 if it has none.
std::uint64_t described_pictures(TIFF* page);

/// Returns whether a file is a stack of grey slices: TIFF with several pages of grey samples, or
/// with one page that describes several pictures or has grey samples that pictures cannot hold
/// (signed integers, more than 16 bits except half floats). False for files that cannot be read.
bool is_tiff_stack(const std::string& path);

/// Returns why the first page of a TIFF file cannot be complete: a directory or samples beyond the
/// end of the file. Empty if it can.
std::string find_tiff_truncation(const std::string& path);

/// Returns whether there are pages after the first that are neither smaller copies of a picture nor
/// masks. False for files that cannot be read.
bool has_more_tiff_pages(const std::string& path);

}  // namespace lull::io
