#pragma once
// What is said about all pictures of the denoised video: HDR10 metadata, rotation and the like.

#include <cstdint>
#include <span>

#include "io/read/source.h"

namespace lull::io {

/// Data of that kind about the source's video, from its container, else from its first frame; empty
/// if there is none.
std::span<const std::uint8_t> picture_data(const FileSource& source, AVPacketSideDataType type);
inline bool has_picture_data(const FileSource& source, AVPacketSideDataType type) {
  return !picture_data(source, type).empty();
}

/// Gives an encoded stream what stays true of the filtered pictures. (What the old encoder said of
/// its bits does not, nor does Dolby Vision: its layer was made for the old samples.)
void copy_picture_data(const FileSource& source, AVStream& to);

}  // namespace lull::io
