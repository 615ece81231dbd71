#pragma once
// Opens a GPU for FFmpeg.

#include <string>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Returns FFmpeg's device for a GPU. FFmpeg uses the primary context, the context of the CUDA
/// runtime, so that kernels can access the decoded pictures. The caller owns the result. Null:
/// FFmpeg cannot use the GPU; `problem` is then the reason.
[[nodiscard]] AVBufferRef* open_gpu(int device, std::string& problem);

}  // namespace lull::io
