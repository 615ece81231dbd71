#pragma once
// The session over the slices of volumes: which layers of reference cubes are filtered when, which
// slices are finished then, and what comes out under which identity. The work on samples is the
// engines' (volume_engine.h), one for each plane.

#include <functional>
#include <memory>

#include "bm4d/params.h"
#include "bm4d/volume_engine.h"
#include "core/denoiser.h"

namespace lull::bm4d {

using EngineFactory = std::function<std::unique_ptr<VolumeEngine>(const VolumePlan&)>;

/// `params` and `format` are valid.
[[nodiscard]] std::unique_ptr<Denoiser> open_volumes(const Params& params,
                                                     const FrameFormat& format,
                                                     const EngineFactory& make_engine);

}  // namespace lull::bm4d
