#pragma once
// Checks the strips and tiles of TIFF pages with Deflate. libtiff stops when it has enough bytes,
// before the checksum, and does not detect damage that leaves the stream decodable.

#include <string>

#include "io/tiff/tiff_library.h"

namespace lull::io {

/// Returns whether a codec (COMPRESSION_*) is Deflate.
bool is_deflate(std::uint16_t codec);

/// Inflates every strip or tile of the current page, which must have the codec Deflate. Returns the
/// first fault, "strip 3: ..."; empty if there is none. `message` receives libtiff's errors
/// (tiff_options()).
std::string find_deflate_fault(TIFF* page, const std::string& message);

}  // namespace lull::io
