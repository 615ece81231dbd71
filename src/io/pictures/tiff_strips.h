#pragma once
// Whether the strips and tiles of a TIFF page hold all of its samples. Decoders of TIFF stop where
// they have enough bytes, before a checksum, or return less than was asked for.

#include <tiffio.h>

#include <cstdint>
#include <optional>
#include <string>

namespace lull::io {

/// The largest factor by which a codec (COMPRESSION_*) can shrink samples that are all equal, or
/// more.
std::uint64_t max_compression(std::uint16_t codec);

/// Why a page with so many bytes of samples cannot come from a file of `file_bytes`; empty if it
/// can. Reads the page's tags alone.
std::string find_excess(TIFF* page, std::uint64_t file_bytes);

struct StripFault {
  std::string text;  // "strip 3: ..."
  /// The strip inflates without an error, but to fewer bytes than it needs.
  bool is_short = false;
};

/// The first strip or tile of the current page from which not all samples can be decoded. Nothing
/// for a page whose codec libtiff cannot decode, and for JPEG. `message` is where libtiff's errors
/// go (tiff_options).
std::optional<StripFault> find_damaged_strip(TIFF* page, std::string& message);

}  // namespace lull::io
