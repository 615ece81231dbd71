#pragma once
// Checks strips and tiles of TIFF pages that are compressed with Deflate. libtiff misses some
// damage: it stops decoding when it has enough bytes, and does not verify the checksum.

#include <string>

#include "io/tiff/tiff_library.h"

namespace lull::io {

/// Returns whether a codec (COMPRESSION_*) uses Deflate.
bool is_deflate(std::uint16_t codec);

/// Decompresses every strip or tile of the current page, which must be compressed with Deflate.
/// Returns a description of the first fault, such as "strip 3: ..."; empty if there is no fault.
/// `message` is the text in which libtiff stores its errors (tiff_options()).
std::string find_deflate_fault(TIFF* page, const std::string& message);

}  // namespace lull::io
