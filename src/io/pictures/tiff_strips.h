#pragma once
// Checks whether the strips and tiles of a TIFF page contain all of its samples. TIFF decoders stop
// when they have enough bytes, before a checksum, or return fewer bytes than requested.

#include <tiffio.h>

#include <cstdint>
#include <optional>
#include <string>

namespace lull::io {

/// Returns an upper bound for the compression ratio of a codec (COMPRESSION_*), reached if all
/// samples are equal.
std::uint64_t max_compression(std::uint16_t codec);

/// Returns why the page has more samples than a file of `file_bytes` bytes can contain; empty if it
/// does not. Reads only the page's tags.
std::string find_excess(TIFF* page, std::uint64_t file_bytes);

struct StripFault {
  std::string text;  // "strip 3: ..."
  /// The strip inflates without an error, but to fewer bytes than it needs.
  bool is_short = false;
};

/// Returns the first strip or tile of the current page that does not contain all of its samples.
/// Returns nullopt for codecs that libtiff cannot decode, and for JPEG. `message` receives
/// libtiff's errors (tiff_options()).
std::optional<StripFault> find_damaged_strip(TIFF* page, std::string& message);

}  // namespace lull::io
