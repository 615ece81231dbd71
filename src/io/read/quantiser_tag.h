#pragma once
// Quantisation steps that a decoded picture carries until the frame is encoded.

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Stores quantisation steps on the 0..255 scale in the picture, for quantiser_steps().
void set_quantiser_steps(AVFrame& picture, double luma, double chroma);

}  // namespace lull::io
