#pragma once
// Checks whether a file contains everything that its container announces. Most of FFmpeg's demuxers
// treat a truncation as the end of the file and report nothing.

#include <string>

#include "io/ffmpeg/ffmpeg.h"
#include "io/files/byte_pipe.h"

namespace lull::io {

/// Examines the outermost structure of a regular file and the demuxer's index. The function reads
/// only headers. It returns why the file cannot be complete, or an empty text if there is no sign
/// of truncation.
///
/// Some truncations cannot be detected: a raw stream (MPEG-TS, Ogg, FLV, H.264 without container),
/// a live recording (Matroska without sizes, MP4 in fragments) or a Y4M file that is cut exactly
/// between two of its units looks like a shorter file.
std::string find_truncation(const std::string& path, const AVFormatContext& context);

/// Returns why the data of a pipe cannot be complete, or an empty text if there is no sign of
/// truncation. The function examines the last bytes that were read from the pipe.
std::string find_truncation(const InputPipe& pipe, const AVFormatContext& context);

/// Returns whether a TIFF file has pages after its first page. FFmpeg reads only the first page.
bool has_more_pages(const std::string& path, const AVFormatContext& context);

}  // namespace lull::io
