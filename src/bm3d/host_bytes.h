#pragma once
// Estimates of the memory that sessions on the host need.

#include "bm3d/bm3d.h"

namespace lull::bm3d {

/// Returns whether the filters process the samples of all planes unchanged except for a constant
/// factor. If so, a session on the CPU stores frames in their sample format instead of as floats.
[[nodiscard]] bool filters_samples(const Params& params, const FrameFormat& format);

/// Returns the estimated number of bytes that a session on the host (reference or cpu) allocates.
/// The estimate excludes the frames that the session has returned.
[[nodiscard]] double host_bytes(const Params& params, const FrameFormat& format, BackendKind kind);

}  // namespace lull::bm3d
