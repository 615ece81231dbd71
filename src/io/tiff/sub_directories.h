#pragma once
// Copies sub-directories of a page: EXIF data, GPS data, and interoperability data (Exif 3.0,
// 4.6.3).

#include <cstdint>
#include <optional>
#include <string>

#include "io/tiff/directory_format.h"

namespace lull::io {

/// Size of the output picture, for the EXIF data of the output.
struct StatedSize {
  std::uint32_t width = 0, height = 0;
};

/// Copies the directory at byte `at` of `path` to the end of `descriptor`, bit for bit except the
/// picture size. Both files must have the same byte order and size of offsets. A failure may leave
/// unused bytes at the end of `descriptor`.
/// @return the offset of the copy, or nullopt for a damaged or unsupported directory
/// @throws IoError
std::optional<std::uint64_t> copy_sub_directory(const std::string& path, std::uint64_t at,
                                                const DirectoryFormat& format,
                                                const StatedSize& size, int descriptor);

}  // namespace lull::io
