#pragma once
// Copies chapters from an input to an output.

#include "io/ffmpeg/ffmpeg.h"
#include "io/write/start_shift.h"

namespace lull::io {

/// Copies all chapters and adds `shift` to their time stamps. If a shifted chapter begins before 0,
/// its beginning becomes 0. The function drops chapters whose shifted end is before 0.
void copy_chapters(const AVFormatContext& from, const StartShift& shift, AVFormatContext& to);

}  // namespace lull::io
