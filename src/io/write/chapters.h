#pragma once
// Chapters of an output.

#include "io/ffmpeg/ffmpeg.h"
#include "io/write/start_shift.h"

namespace lull::io {

/// Copies all chapters and shifts their times. A shift to earlier times cuts chapters at 0 and
/// drops those that end before 0.
void copy_chapters(const AVFormatContext& from, const StartShift& shift, AVFormatContext& to);

}  // namespace lull::io
