#pragma once
// Side data of the denoised video that apply to all pictures: HDR10 metadata, rotation and similar
// data.

#include <cstdint>
#include <span>

#include "io/read/source.h"

namespace lull::io {

/// Returns the side data of the type `type` that the source's video has. The function first
/// searches the container, then the first frame. The result is empty if neither contains such data.
std::span<const std::uint8_t> picture_data(const FileSource& source, AVPacketSideDataType type);
inline bool has_picture_data(const FileSource& source, AVPacketSideDataType type) {
  return !picture_data(source, type).empty();
}

/// Copies the side data that are also valid for the filtered pictures. (Properties of the source's
/// bit stream are not copied. Dolby Vision is not copied either, because its enhancement layer was
/// made for the unfiltered samples.)
void copy_picture_data(const FileSource& source, AVStream& to);

}  // namespace lull::io
