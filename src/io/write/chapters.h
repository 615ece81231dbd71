#pragma once
// Copies chapters from an input to an output.

#include "io/ffmpeg/ffmpeg.h"
#include "io/write/start_shift.h"

namespace lull::io {

/// Copies all chapters, with their time stamps shifted by `shift`. Chapters that then begin before
/// 0 are cut at 0; chapters that end before 0 are dropped.
void copy_chapters(const AVFormatContext& from, const StartShift& shift, AVFormatContext& to);

}  // namespace lull::io
