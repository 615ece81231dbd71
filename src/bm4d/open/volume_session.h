#pragma once
// The session over the slices of volumes. It schedules layers of reference cubes and finished
// slices, and gives each result the time and side data of its input slice. The worker processes the
// samples (volume_worker.h).

#include <memory>

#include "bm4d/params.h"
#include "bm4d/volume_worker.h"
#include "core/denoiser.h"
#include "time/slice_session.h"

namespace lull::bm4d {

/// Opens a session. `params` and `format` must be valid. `worker` must have been made for the same
/// parameters and format, and for slices in `memory`.
[[nodiscard]] std::unique_ptr<Denoiser> open_volumes(const Params& params,
                                                     const FrameFormat& format,
                                                     std::unique_ptr<VolumeWorker> worker,
                                                     const ResultSamples& results,
                                                     SliceMemory memory = SliceMemory::host);

}  // namespace lull::bm4d
