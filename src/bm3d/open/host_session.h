#pragma once
// Sessions of the host backends. A session manages frames, planes and colour, and runs the phases
// with a PhaseEngine.

#include <memory>

#include "bm3d/params.h"
#include "bm3d/phase_engine.h"
#include "core/denoiser.h"

namespace lull::bm3d {

/// Opens a session. `params` and `format` must be valid.
[[nodiscard]] std::unique_ptr<Denoiser> open_host(const Params& params, const FrameFormat& format,
                                                  std::unique_ptr<PhaseEngine> engine,
                                                  const ResultSamples& results = {});

}  // namespace lull::bm3d
