#pragma once
// Portable float maps (PFM) store the last row of a picture first. Some releases of FFmpeg reverse
// this order when they decode or encode, so lull tests each codec once with a map of two rows.

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Returns whether `codec` keeps the order of the file, in which the last row comes first. If it
/// does, decoded pictures are upside down.
[[nodiscard]] bool keeps_bottom_up_rows(const AVCodec& codec);

/// Reverses the order of a picture's rows. All planes must have the same height.
/// @throws std::bad_alloc
void flip_rows(AVFrame& picture);

}  // namespace lull::io
