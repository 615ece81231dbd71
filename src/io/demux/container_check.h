#pragma once
// Checks whether a file is complete. Most of FFmpeg's demuxers treat a truncation as the end of the
// file.

#include <string>

#include "io/ffmpeg/ffmpeg.h"
#include "io/files/byte_pipe.h"

namespace lull::io {

/// Returns why the regular file `path` cannot be complete; empty if there is no sign of a
/// truncation, or if the function does not check the format. The function does not detect a
/// truncation directly after a complete MP4 fragment, FLV tag or MPEG-TS packet, or in a Matroska
/// segment of unknown size.
std::string find_truncation(const std::string& path, const AVFormatContext& context);

/// Checks the last bytes that a pipe has delivered. Returns why the data cannot be complete; empty
/// if there is no sign of a truncation.
std::string find_truncation(const InputPipe& pipe, const AVFormatContext& context);

/// Returns whether a TIFF file has several pages. FFmpeg reads only the first page.
bool has_more_pages(const std::string& path, const AVFormatContext& context);

}  // namespace lull::io
