#pragma once
// Estimates of the memory that sessions of the host backends allocate.

#include "bm3d/bm3d.h"

namespace lull::bm3d {

/// Returns true if the filters can read the integer samples of a frame directly, and only need to
/// multiply them by a scale factor. A CPU session then stores frames in their sample format instead
/// of as floats.
[[nodiscard]] bool filters_samples(const Params& params, const FrameFormat& format);

/// Returns the estimated number of bytes that a session of a host backend (`reference` or `cpu`)
/// allocates. Frames that the session has returned do not count.
[[nodiscard]] double host_bytes(const Params& params, const FrameFormat& format, BackendKind kind);

}  // namespace lull::bm3d
