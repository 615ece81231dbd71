#pragma once
// Checks whether a file is complete. Most of FFmpeg's demuxers treat a truncation as the end of the
// file.

#include <string>

#include "io/ffmpeg/ffmpeg.h"
#include "io/files/byte_pipe.h"

namespace lull::io {

/// Returns why a regular file cannot be complete; empty if there is no sign of a truncation. In
/// MPEG-TS, FLV, Y4M, fragmented MP4 and Matroska without sizes, the function cannot detect a
/// truncation at the end of a packet, tag, frame, fragment or cluster. In a raw stream, it detects
/// no truncation.
std::string find_truncation(const std::string& path, const AVFormatContext& context);

/// Checks the last bytes that a pipe has delivered. Returns why the data cannot be complete; empty
/// if there is no sign of a truncation.
std::string find_truncation(const InputPipe& pipe, const AVFormatContext& context);

/// Returns whether a TIFF file has several pages. FFmpeg reads only the first page.
bool has_more_pages(const std::string& path, const AVFormatContext& context);

}  // namespace lull::io
