#pragma once
// Recognises common file formats that lull does not read, for messages that suggest a conversion.

#include <cstdint>
#include <span>
#include <string>

namespace lull::io {

/// Number of bytes from the beginning of a file that unsupported_format() needs.
constexpr int format_head_bytes = 132;

/// Returns the format and a suggestion, such as "a FITS file (lull does not read this format);
/// convert it ..."; empty if the format is unknown. `head` contains the first bytes of the file.
std::string unsupported_format(std::span<const std::uint8_t> head);

}  // namespace lull::io
