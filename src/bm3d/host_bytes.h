#pragma once
// Estimates the memory of sessions on the host.

#include "bm3d/bm3d.h"

namespace lull::bm3d {

/// Returns whether the filters' input is the samples of a frame times a constant, in all planes. A
/// session on the CPU then holds the samples of its frames instead of floats.
[[nodiscard]] bool filters_samples(const Params& params, const FrameFormat& format);

/// Estimates the bytes that a session on the host (reference or cpu) holds, without the frames that
/// it returned.
[[nodiscard]] double host_bytes(const Params& params, const FrameFormat& format, BackendKind kind);

}  // namespace lull::bm3d
