#pragma once
// What every session asks of the frames that it is opened for, and of where it runs.

#include "core/denoiser.h"
#include "core/frame.h"

namespace lull {

/// @throws InvalidArgument  a size, a depth, a white or a subsampling that no frame can have
void validate(const FrameFormat& format);
/// @throws InvalidArgument  fewer threads than none, results on a GPU from a session on the CPU
void validate(const Backend& backend);

}  // namespace lull
