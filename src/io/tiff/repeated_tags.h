#pragma once
// Repeated tags of a page, such as the two descriptions from the Python package tifffile. libtiff
// reads and writes only the first occurrence of a tag.

#include <cstdint>
#include <string>
#include <vector>

#include "io/tiff/directory_format.h"
#include "io/tiff/tiff_library.h"

namespace lull::io {

struct RepeatedText {
  std::uint16_t tag = 0;
  std::vector<std::uint8_t> bytes;  // including the zero byte at the end
};

/// Returns the texts of all tags that occur several times on the current page of an open file. The
/// result lacks the first text of each tag.
/// @param path  the name of the file
std::vector<RepeatedText> read_repeated_texts(TIFF* page, const std::string& path);

/// Appends the texts of repeated tags to the pages of a complete file. pages[i] contains the texts
/// for page i. If this list is not empty, the function writes a new directory for the page to the
/// end of the file.
/// @throws IoError
void append_texts(int descriptor, const DirectoryFormat& format,
                  const std::vector<std::vector<RepeatedText>>& pages);

}  // namespace lull::io
