#pragma once
// Checks of the frame format and of the backend. Every session makes these checks when it opens.

#include "core/denoiser.h"
#include "core/frame.h"

namespace lull {

/// Checks a frame format.
/// @throws InvalidArgument  a size, bit depth, white level or subsampling that no frame can have
void validate(const FrameFormat& format);
/// Checks a backend.
/// @throws InvalidArgument  the number of threads is negative, or the caller requests results in
///     GPU memory from a session on the CPU
void validate(const Backend& backend);

}  // namespace lull
