#pragma once
// Brings slices to engines on the host (volume_engine.h), one for each plane with noise, and their
// estimates back.

#include <functional>
#include <memory>

#include "bm4d/volume_worker.h"

namespace lull::bm4d {

using EngineFactory = std::function<std::unique_ptr<VolumeEngine>(const VolumePlan&)>;

/// `params` and `format` are valid.
[[nodiscard]] std::unique_ptr<VolumeWorker> make_host_worker(const Params& params,
                                                             const FrameFormat& format,
                                                             const EngineFactory& make_engine);

}  // namespace lull::bm4d
