#pragma once
// Stores quantisation steps in a decoded picture.

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Stores quantisation steps on the 0..255 scale in the picture, for quantiser_steps().
void set_quantiser_steps(AVFrame& picture, double luma, double chroma);

}  // namespace lull::io
