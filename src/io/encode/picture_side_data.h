#pragma once
// Side data of the whole video, such as HDR10 metadata and the rotation.

#include <cstdint>
#include <span>

#include "io/read/source.h"

namespace lull::io {

/// Returns the side data of type `type` from the container, or else from the first frame; empty if
/// there are none.
std::span<const std::uint8_t> picture_data(const FileSource& source, AVPacketSideDataType type);
inline bool has_picture_data(const FileSource& source, AVPacketSideDataType type) {
  return !picture_data(source, type).empty();
}

/// Copies the side data that remain valid after filtering. The function does not copy properties of
/// the source's bit stream. It does not copy Dolby Vision, because the enhancement layer fits only
/// the unfiltered samples.
void copy_picture_data(const FileSource& source, AVStream& to);
/// Copies the side data of the video that remain valid after filtering to a frame. The function
/// does not replace side data that the frame already has.
void copy_picture_data(const FileSource& source, AVFrame& to);

}  // namespace lull::io
