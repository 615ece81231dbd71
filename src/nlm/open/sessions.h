#pragma once
// Sessions of non-local means schedule frames or slices. Engines (engine.h) process samples on the
// host, workers (cuda/workers.h) on a GPU.

#include <functional>
#include <memory>

#include "core/denoiser.h"
#include "nlm/engine.h"
#include "nlm/slices_worker.h"
#include "time/frame_session.h"

namespace lull::nlm {

using FrameEngineFactory = std::function<std::unique_ptr<FrameEngine>(const FramePlan&)>;
using VolumeEngineFactory = std::function<std::unique_ptr<VolumeEngine>(const VolumePlan&)>;

// Makes the workers of the host backends. `params` and `format` must be valid.
[[nodiscard]] std::unique_ptr<FrameWorker> make_host_frame_worker(
    const Params& params, const FrameFormat& format, const FrameEngineFactory& make_engine,
    const ResultSamples& results);
[[nodiscard]] std::unique_ptr<SlicesWorker> make_host_slices_worker(
    const Params& params, const FrameFormat& format, const VolumeEngineFactory& make_engine,
    const ResultSamples& results);
[[nodiscard]] std::unique_ptr<Denoiser> open_slices(const Params& params, const FrameFormat& format,
                                                    std::unique_ptr<SlicesWorker> worker,
                                                    const ResultSamples& results);

}  // namespace lull::nlm
