#pragma once
// Copies chapters from an input to an output.

#include "io/ffmpeg/ffmpeg.h"
#include "io/write/start_shift.h"

namespace lull::io {

/// Copies all chapters, shifted in time by `shift`. If a shifted chapter ends before 0, the
/// function omits the chapter. If a shifted chapter begins before 0 and ends later, its start
/// becomes 0.
void copy_chapters(const AVFormatContext& from, const StartShift& shift, AVFormatContext& to);

}  // namespace lull::io
