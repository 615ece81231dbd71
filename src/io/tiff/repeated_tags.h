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

/// Returns the texts of repeated tags, except the first text of each tag. `page` is an open TIFF
/// file, and the function reads the tags of its current page. `path` is the name of the file.
std::vector<RepeatedText> read_repeated_texts(TIFF* page, const std::string& path);

/// Adds texts to the pages of a complete file. `pages` contains a list of texts for each page. The
/// function appends a new directory to the file for each page with texts.
/// @throws IoError
void append_texts(int descriptor, const DirectoryFormat& format,
                  const std::vector<std::vector<RepeatedText>>& pages);

}  // namespace lull::io
