#pragma once
// The worker for engines on the host (volume_engine.h), with one engine for each plane with noise.
// The worker converts slices to floats, and estimates to samples.

#include <functional>
#include <memory>

#include "bm4d/volume_worker.h"

namespace lull::bm4d {

using EngineFactory = std::function<std::unique_ptr<VolumeEngine>(const VolumePlan&)>;

/// Makes the worker of a host backend. `params` and `format` must be valid.
[[nodiscard]] std::unique_ptr<VolumeWorker> make_host_worker(const Params& params,
                                                             const FrameFormat& format,
                                                             const EngineFactory& make_engine,
                                                             const ResultSamples& results);

}  // namespace lull::bm4d
