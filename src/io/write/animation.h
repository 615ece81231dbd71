#pragma once
// Properties of animated pictures (GIF, APNG, WebP) that FFmpeg's muxers do not take from the
// input: the loop count, and the duration of the last picture.

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Copies the loop count from the GIF or APNG file `path` to the options of the muxer of GIF, APNG
/// or WebP. If the user has set the option, or if the file states no loop count, the function does
/// nothing.
void copy_plays(const std::string& path, const AVOutputFormat& to, Dictionary& options);

/// Sets the duration of the last picture in a GIF or APNG file, in the time base of the stream.
/// Without this call, the muxer would repeat the duration of the preceding picture. An option
/// `final_delay` of the user takes precedence.
void set_last_duration(AVFormatContext& context, std::int64_t duration);

}  // namespace lull::io
