#pragma once
// JPEG files with several pictures (CIPA DC-007, "Multi-Picture Format"), such as HDR photos with
// gain maps. An APP2 segment of the main picture contains the index.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/metadata/picture_metadata.h"

namespace lull::io {

/// The identifier of the APP2 segment that contains the Multi-Picture index.
constexpr std::string_view mpf_name{"MPF\0", 4};

/// Returns whether the file is a JPEG file with a Multi-Picture index. The function reads only the
/// segments before the first scan.
bool is_multi_picture_file(const std::string& path);
bool is_multi_picture(ByteView file);

/// Returns the pictures after the main picture in `file`. Their positions come from the
/// Multi-Picture index, which begins at position `index_at` (after the identifier of its segment)
/// and has `index_bytes` bytes. The function ignores entries that point beyond the end of the file.
std::vector<AdditionalPicture> read_pictures(ByteView file, std::size_t index_at,
                                             std::size_t index_bytes);

/// Returns the size in bytes of an index of `pictures` pictures, including the main picture.
std::size_t index_size(std::size_t pictures);
/// Returns the Multi-Picture index for `pictures` after a main picture of `main_bytes` bytes.
/// `index_at` is the position of the index in the file.
ByteVector make_index(std::span<const AdditionalPicture> pictures, std::size_t main_bytes,
                      std::size_t index_at);

}  // namespace lull::io
