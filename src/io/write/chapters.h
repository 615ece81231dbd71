#pragma once
// Copies chapters from an input to an output.

#include "io/ffmpeg/ffmpeg.h"
#include "io/write/start_shift.h"

namespace lull::io {

/// Copies all chapters, and shifts their time stamps by `shift`. After the shift, chapters that
/// begin before 0 are cut at 0, and chapters that end before 0 are dropped.
void copy_chapters(const AVFormatContext& from, const StartShift& shift, AVFormatContext& to);

}  // namespace lull::io
