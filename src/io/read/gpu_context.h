#pragma once
// Opens a GPU for FFmpeg's decoders.

#include <string>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Opens a GPU as an FFmpeg device. The caller owns the device. The device uses the primary context
/// of the GPU, like the CUDA runtime. Kernels can therefore access the decoded pictures. If FFmpeg
/// cannot use the GPU, the function returns null and stores the reason in `problem`.
[[nodiscard]] AVBufferRef* open_gpu(int device, std::string& problem);

}  // namespace lull::io
