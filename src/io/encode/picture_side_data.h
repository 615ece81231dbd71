#pragma once
// Side data that apply to all pictures of a video, such as HDR10 metadata and the rotation.

#include <cstdint>
#include <span>

#include "io/read/source.h"

namespace lull::io {

/// Returns the side data of type `type` from the container. If the container has none, the function
/// returns the side data of the first frame. The result is empty if there are none.
std::span<const std::uint8_t> picture_data(const FileSource& source, AVPacketSideDataType type);
inline bool has_picture_data(const FileSource& source, AVPacketSideDataType type) {
  return !picture_data(source, type).empty();
}

/// Copies the side data that are also valid for the filtered pictures. The function omits
/// properties of the source's bit stream. It also omits Dolby Vision, whose enhancement layer is
/// valid only for the unfiltered samples.
void copy_picture_data(const FileSource& source, AVStream& to);

}  // namespace lull::io
