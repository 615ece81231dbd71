#pragma once
// Checks Deflate data of TIFF pages. libtiff misses some damage: it stops decoding after the last
// sample, and does not verify the checksum.

#include <string>

#include "io/tiff/tiff_library.h"

namespace lull::io {

/// Returns whether a codec (COMPRESSION_*) uses Deflate.
bool is_deflate(std::uint16_t codec);

/// Checks all strips or tiles of the current page, which must use Deflate.
/// @param message  the string in which libtiff stores its errors (tiff_options())
/// @return a description of the first fault, such as "strip 3: ..."; empty if there is none
std::string find_deflate_fault(TIFF* page, const std::string& message);

}  // namespace lull::io
