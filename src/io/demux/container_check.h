#pragma once
// Whether a file holds all that its container promises. FFmpeg's demuxers are made for broken
// files: most take a cut for the end.

#include <string>

#include "io/ffmpeg/ffmpeg.h"
#include "io/files/byte_pipe.h"

namespace lull::io {

/// Looks at the outermost structure of a regular file and at the demuxer's index; reads only
/// headers. Gives why the file cannot be whole, empty if nothing speaks against it.
///
/// What cannot be known: a raw stream (MPEG-TS, Ogg, FLV, H.264 without container), a live
/// recording (Matroska without sizes, MP4 in fragments) or a Y4M file cut exactly between two of
/// its units looks the same as a shorter one.
std::string find_truncation(const std::string& path, const AVFormatContext& context);

/// The same at the end of a pipe, from the bytes that came last.
std::string find_truncation(const InputPipe& pipe, const AVFormatContext& context);

/// Whether a TIFF file has pages after its first, the only one that FFmpeg reads.
bool has_more_pages(const std::string& path, const AVFormatContext& context);

}  // namespace lull::io
