#pragma once
// Portable float maps (PFM) begin with their last row. FFmpeg's codec for them does not say whether
// it turns pictures over, and has not always done the same: it is asked, once, with a map of two
// rows.

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Whether pictures of this decoder or encoder have their rows in the order of the file.
[[nodiscard]] bool keeps_bottom_up_rows(const AVCodec& codec);

/// Exchanges the rows of a picture, of planes of one height, first for last.
/// @throws std::bad_alloc
void flip_rows(AVFrame& picture);

}  // namespace lull::io
