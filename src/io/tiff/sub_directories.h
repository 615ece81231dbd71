#pragma once
// Directories that a tag of a page refers to: EXIF, GPS, interoperability (Exif 3.0, 4.6.3).

#include <cstdint>
#include <optional>
#include <string>

#include "io/tiff/directory_format.h"

namespace lull::io {

/// Size of a picture that replaces the one that EXIF states.
struct StatedSize {
  std::uint32_t width = 0, height = 0;
};

/// Copies the directory at byte `at` of the file `path` to the end of the file `descriptor`, which
/// has the same byte order and the same size of offsets. The values are copied bit for bit, except
/// the size of the picture. Returns the offset of the copy; nullopt if the directory is damaged or
/// contains values of unknown types, and then the file may have unused bytes at its end.
/// @throws IoError
std::optional<std::uint64_t> copy_sub_directory(const std::string& path, std::uint64_t at,
                                                const DirectoryFormat& format,
                                                const StatedSize& size, int descriptor);

}  // namespace lull::io
