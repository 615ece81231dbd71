#pragma once
// Opens a GPU for FFmpeg's decoders.

#include <string>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Opens a GPU as an FFmpeg device, which the caller owns. The device uses the GPU's primary
/// context, so kernels can access the decoded pictures. Returns null and sets `problem` if FFmpeg
/// cannot use the GPU.
[[nodiscard]] AVBufferRef* open_gpu(int device, std::string& problem);

}  // namespace lull::io
