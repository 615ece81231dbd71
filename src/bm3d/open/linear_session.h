#pragma once
// Sessions of the host backends for iterated linear combinations of patches (linear/params.h).

#include <memory>

#include "bm3d/params.h"
#include "core/denoiser.h"
#include "linear/engine.h"

namespace lull::bm3d {

/// Opens a session. `params` and `format` must be valid, and the session must filter at least one
/// plane.
[[nodiscard]] std::unique_ptr<Denoiser> open_linear(const Params& params, const FrameFormat& format,
                                                    std::unique_ptr<linear::Engine> engine,
                                                    const ResultSamples& results);

/// Opens a session with temporal filtering. Only open_linear() calls this function.
[[nodiscard]] std::unique_ptr<Denoiser> open_linear_over_time(
    const Params& params, const FrameFormat& format, std::unique_ptr<linear::Engine> engine,
    const ResultSamples& results);

}  // namespace lull::bm3d
