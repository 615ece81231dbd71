#pragma once
// Opens a GPU for FFmpeg's decoders.

#include <string>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Returns FFmpeg's device for a GPU; the caller owns it. The device uses the primary context, like
/// the CUDA runtime, so that kernels can access the decoded pictures. If FFmpeg cannot use the GPU,
/// the result is null and `problem` is the reason.
[[nodiscard]] AVBufferRef* open_gpu(int device, std::string& problem);

}  // namespace lull::io
