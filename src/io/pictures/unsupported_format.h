#pragma once
// Recognises common file formats that lull does not read, so that lull can suggest a conversion.

#include <cstdint>
#include <span>
#include <string>

namespace lull::io {

/// Number of bytes at the beginning of a file that must be read to recognise the format.
constexpr int format_head_bytes = 132;

/// Returns the name of the format and a suggestion for a message, such as "a DICOM file (lull does
/// not read it); convert it ...". Returns an empty text if the format is unknown. `head` contains
/// the first bytes of the file.
std::string unsupported_format(std::span<const std::uint8_t> head);

}  // namespace lull::io
