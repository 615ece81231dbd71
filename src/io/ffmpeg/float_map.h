#pragma once
// Portable float maps (PFM) store the last row first. FFmpeg's codec for PFM flips pictures only in
// some releases of FFmpeg, and does not state whether it does. lull therefore tests each codec once
// with a map of two rows.

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Returns whether the decoder or encoder `codec` keeps the row order of the file. Pictures of such
/// a codec are upside down.
[[nodiscard]] bool keeps_bottom_up_rows(const AVCodec& codec);

/// Reverses the order of a picture's rows. All planes must have the same height.
/// @throws std::bad_alloc
void flip_rows(AVFrame& picture);

}  // namespace lull::io
