#pragma once
// JPEG files with several pictures (CIPA DC-007, "Multi-Picture Format"): gain maps of HDR photos,
// other views, previews. An index in the main picture's segment APP2 states where they are.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/metadata/picture_metadata.h"

namespace lull::io {

/// The name with which the data of the segment begin.
constexpr std::string_view mpf_name{"MPF\0", 4};

/// Returns whether the file is a JPEG file whose segments contain such an index. Reads only the
/// segments.
bool is_multi_picture_file(const std::string& path);
bool is_multi_picture(ByteView file);

/// Returns the pictures after the main one. `index_at` is the position of the index in `file`,
/// after the segment's name; `index_bytes` is its size. Entries outside the file are omitted.
std::vector<AdditionalPicture> read_pictures(ByteView file, std::size_t index_at,
                                             std::size_t index_bytes);

/// Returns the size of the index for a number of pictures, including the main one.
std::size_t index_size(std::size_t pictures);
/// Returns the index. `main_bytes` is the size of the main picture, after which the others follow,
/// and `index_at` is the position of the index in it.
ByteVector make_index(std::span<const AdditionalPicture> pictures, std::size_t main_bytes,
                      std::size_t index_at);

}  // namespace lull::io
