#pragma once
// Copies chapters from an input to an output.

#include "io/ffmpeg/ffmpeg.h"
#include "io/write/start_shift.h"

namespace lull::io {

/// Shifts all chapters by `shift`, and copies them. Omits chapters that then end before 0. A
/// shifted start before 0 becomes 0.
void copy_chapters(const AVFormatContext& from, const StartShift& shift, AVFormatContext& to);

}  // namespace lull::io
