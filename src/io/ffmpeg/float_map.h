#pragma once
// Portable float maps (PFM) store the last row of a picture first. Some releases of FFmpeg reverse
// this order when they decode or encode. lull therefore tests each codec once with a map of two
// rows.

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Returns whether the decoder or encoder `codec` keeps the order of rows in the file, in which the
/// last row comes first. A decoder that keeps this order returns pictures upside down.
[[nodiscard]] bool keeps_bottom_up_rows(const AVCodec& codec);

/// Reverses the order of a picture's rows. All planes must have the same height.
/// @throws std::bad_alloc
void flip_rows(AVFrame& picture);

}  // namespace lull::io
