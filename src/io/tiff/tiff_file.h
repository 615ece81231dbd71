#pragma once
// Determines the kind, the number of pages and the size of a TIFF file.

#include <string>

#include "io/tiff/tiff_reader.h"

namespace lull::io {

/// Returns whether a name ends in .tif or .tiff in any case.
bool is_tiff_name(const std::string& path);
/// Returns whether a file begins with the signature of TIFF or BigTIFF.
bool is_tiff_file(const std::string& path);

/// Returns whether ImageJ wrote the description of a page.
bool is_imagej(TIFF* page);

/// Returns the number of pictures that the tags of a page state: in ImageJ's description, or in
/// MetaMorph's tag UIC2. Returns 0 for pages of other programs.
std::uint64_t described_pictures(TIFF* page);

/// Returns whether a TIFF file is a stack of grey slices. A stack has several grey pages, a grey
/// page that describes several pictures, or sample types that lull supports only in stacks. Returns
/// false for unreadable files.
bool is_tiff_stack(const std::string& path);

/// Returns the reason why the first page of a TIFF file is incomplete: its directory or its samples
/// extend beyond the end of the file. Empty if the page is complete.
std::string find_tiff_truncation(const std::string& path);

/// Returns whether the file has a second picture: a page after the first that is neither a mask nor
/// a reduced copy of a picture. Returns false for unreadable files.
bool has_more_tiff_pages(const std::string& path);

}  // namespace lull::io
