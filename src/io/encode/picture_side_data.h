#pragma once
// Side data of the denoised video that concern all pictures: HDR10 metadata, rotation and similar.

#include <cstdint>
#include <span>

#include "io/read/source.h"

namespace lull::io {

/// Returns side data of this type of the source's video, from the container, else from its first
/// frame; empty if there are none.
std::span<const std::uint8_t> picture_data(const FileSource& source, AVPacketSideDataType type);
inline bool has_picture_data(const FileSource& source, AVPacketSideDataType type) {
  return !picture_data(source, type).empty();
}

/// Copies the side data that are still valid for the filtered pictures. (Properties of the old bit
/// stream are not copied. Dolby Vision is not copied either, because its enhancement layer was made
/// for the old samples.)
void copy_picture_data(const FileSource& source, AVStream& to);

}  // namespace lull::io
