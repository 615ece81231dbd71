#pragma once
// Recognises formats of other programs that lull does not read although users may expect it.

#include <cstdint>
#include <span>
#include <string>

namespace lull::io {

/// Number of bytes at the beginning of a file that suffice to recognise the formats.
constexpr int format_head_bytes = 132;

/// Returns the name of the format and a suggestion for a message, such as "a DICOM file (lull does
/// not read it); convert it ...". Returns an empty text if the format is unknown. `head` contains
/// the first bytes of the file.
std::string unsupported_format(std::span<const std::uint8_t> head);

}  // namespace lull::io
