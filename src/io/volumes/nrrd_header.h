#pragma once
// The text header of NRRD files.
//
// Source: teem.sourceforge.net/nrrd/format.html.

#include <cstdint>
#include <string>
#include <vector>

#include "io/volumes/geometry.h"
#include "io/volumes/stack_samples.h"

namespace lull::io {

struct NrrdHeader {
  StoredType type = StoredType::u8;
  bool big_endian = false, is_gzip = false;
  /// Size, spacing and position of the volume. If the header has no field "space directions", the
  /// orientation and the position are unknown.
  VolumeGeometry geometry;
  std::string data_file;         // empty: the samples follow the header
  std::uint64_t byte_skip = 0;   // number of bytes to skip after decompression
  std::uint64_t head_bytes = 0;  // length of the header, with the empty line
  /// One string for each part of the header that describes neither the geometry nor the samples.
  std::vector<std::string> other_contents;
};

/// Parses a header.
/// @param text  the first bytes of the file
/// @throws BadData  the header is invalid; the message is one line that begins with `name` in
///     quotes
[[nodiscard]] NrrdHeader parse_nrrd(const std::string& text, const std::string& name);

/// Returns the text of a header.
/// @param original  the header of an NRRD file. The function copies all lines that do not describe
///     the samples. If `original` is empty, the function makes a new header.
/// @param data_file  name of the file that contains the samples. If `data_file` is empty, the
///     samples follow the header.
[[nodiscard]] std::string make_nrrd_text(const VolumeGeometry& geometry,
                                         const StoredFormat& samples, bool is_gzip,
                                         const std::string& data_file, const std::string& original);

}  // namespace lull::io
