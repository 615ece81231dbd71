#pragma once
// Side data that apply to all pictures of the denoised video, such as HDR10 metadata and the
// rotation.

#include <cstdint>
#include <span>

#include "io/read/source.h"

namespace lull::io {

/// Returns the side data of the type `type` for the source's video. The function searches the
/// container first, and then the first frame. The result is empty if neither contains such data.
std::span<const std::uint8_t> picture_data(const FileSource& source, AVPacketSideDataType type);
inline bool has_picture_data(const FileSource& source, AVPacketSideDataType type) {
  return !picture_data(source, type).empty();
}

/// Copies the side data that are also valid for the filtered pictures. The function does not copy
/// properties of the source's bit stream. It does not copy Dolby Vision either, because the
/// enhancement layer of Dolby Vision was made for the unfiltered samples.
void copy_picture_data(const FileSource& source, AVStream& to);

}  // namespace lull::io
