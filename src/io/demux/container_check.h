#pragma once
// Checks whether a file contains everything that its container announces. Most of FFmpeg's demuxers
// treat a truncation as the end of the file and report nothing.

#include <string>

#include "io/ffmpeg/ffmpeg.h"
#include "io/files/byte_pipe.h"

namespace lull::io {

/// Returns why a regular file cannot be complete; an empty text if there is no sign of a
/// truncation. The function cannot detect a truncation between two units of MPEG-TS, FLV, Y4M,
/// fragmented MP4, or Matroska without sizes. It cannot detect any truncation of a raw stream, such
/// as H.264 without container.
std::string find_truncation(const std::string& path, const AVFormatContext& context);

/// Examines the last bytes of the data from a pipe. Returns why the data cannot be complete; an
/// empty text if there is no sign of a truncation.
std::string find_truncation(const InputPipe& pipe, const AVFormatContext& context);

/// Returns whether a TIFF file has further pages after the first one. FFmpeg reads only the first
/// page.
bool has_more_pages(const std::string& path, const AVFormatContext& context);

}  // namespace lull::io
