#pragma once
// What every session asks of the frames that it is opened for.

#include "core/frame.h"

namespace lull {

/// @throws InvalidArgument  a size, a depth, a white or a subsampling that no frame can have
void validate(const FrameFormat& format);

}  // namespace lull
