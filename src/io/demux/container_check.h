#pragma once
// Checks whether a file contains everything that its container announces. The check is needed
// because most of FFmpeg's demuxers treat a truncation as the end of the file and report nothing.

#include <string>

#include "io/ffmpeg/ffmpeg.h"
#include "io/files/byte_pipe.h"

namespace lull::io {

/// Examines the outermost structure of a regular file and the index that the demuxer has read. The
/// function reads only headers. It returns why the file cannot be complete, or an empty text if it
/// finds no sign of a truncation.
///
/// The function cannot detect all truncations. A raw stream (MPEG-TS, Ogg, FLV, H.264 without
/// container) or a live recording (Matroska without sizes, MP4 in fragments) looks like a shorter
/// file after a truncation. A truncated Y4M file looks complete if it ends exactly after a frame.
std::string find_truncation(const std::string& path, const AVFormatContext& context);

/// Examines the last bytes that were read from a pipe. Returns why the data cannot be complete, or
/// an empty text if there is no sign of a truncation.
std::string find_truncation(const InputPipe& pipe, const AVFormatContext& context);

/// Returns whether a TIFF file has pages after its first page. The check is needed because FFmpeg
/// reads only the first page.
bool has_more_pages(const std::string& path, const AVFormatContext& context);

}  // namespace lull::io
