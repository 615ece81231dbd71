#pragma once
// Side data of a video that apply to all of its pictures, such as HDR10 metadata and the rotation.

#include <cstdint>
#include <span>

#include "io/read/source.h"

namespace lull::io {

/// Returns the side data of the type `type` from the container, or else from the first frame; empty
/// if neither has such data.
std::span<const std::uint8_t> picture_data(const FileSource& source, AVPacketSideDataType type);
inline bool has_picture_data(const FileSource& source, AVPacketSideDataType type) {
  return !picture_data(source, type).empty();
}

/// Copies the side data that are also valid for the filtered pictures. Properties of the source's
/// bit stream are not copied, and neither is Dolby Vision, whose enhancement layer was made for the
/// unfiltered samples.
void copy_picture_data(const FileSource& source, AVStream& to);

}  // namespace lull::io
