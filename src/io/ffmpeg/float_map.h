#pragma once
// Reverses the rows of portable float maps (PFM), which store the last row first. Some releases of
// FFmpeg reverse the rows themselves, so lull tests each codec once.

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Returns whether `codec` returns rows in the order of the file (last row first), so that decoded
/// pictures are upside down.
[[nodiscard]] bool keeps_bottom_up_rows(const AVCodec& codec);

/// Reverses the row order of a picture. All planes must have the same height.
/// @throws std::bad_alloc
void flip_rows(AVFrame& picture);

}  // namespace lull::io
