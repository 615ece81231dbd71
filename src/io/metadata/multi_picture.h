#pragma once
// JPEG files with several pictures (CIPA DC-007, "Multi-Picture Format"), such as HDR photos with
// gain maps. An index in the segment APP2 of the main picture states the positions of the other
// pictures.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/metadata/picture_metadata.h"

namespace lull::io {

/// The identifier at the beginning of the segment that contains the index of pictures.
constexpr std::string_view mpf_name{"MPF\0", 4};

/// Returns whether the file is a JPEG file with an index of several pictures. The function reads
/// only the segments before the first scan.
bool is_multi_picture_file(const std::string& path);
bool is_multi_picture(ByteView file);

/// Returns the pictures that follow the main picture in `file`. The index of pictures begins at
/// byte `index_at` of `file`, after the identifier of the segment, and has `index_bytes` bytes. The
/// function omits entries that refer to bytes outside the file.
std::vector<AdditionalPicture> read_pictures(ByteView file, std::size_t index_at,
                                             std::size_t index_bytes);

/// Returns the size in bytes of an index of `pictures` pictures, including the main picture.
std::size_t index_size(std::size_t pictures);
/// Returns the index of a file in which `pictures` follow a main picture of `main_bytes` bytes.
/// `index_at` is the position of the index in the file.
ByteVector make_index(std::span<const AdditionalPicture> pictures, std::size_t main_bytes,
                      std::size_t index_at);

}  // namespace lull::io
