#pragma once
// The session over the slices of volumes: which layers of reference cubes are filtered when, which
// slices are finished then, and what comes out under which identity. The work on samples is the
// worker's (volume_worker.h).

#include <memory>

#include "bm4d/params.h"
#include "bm4d/volume_worker.h"
#include "core/denoiser.h"
#include "time/slice_session.h"

namespace lull::bm4d {

/// `params` and `format` are valid, and `worker` was made for them, and for slices in this memory.
[[nodiscard]] std::unique_ptr<Denoiser> open_volumes(const Params& params,
                                                     const FrameFormat& format,
                                                     std::unique_ptr<VolumeWorker> worker,
                                                     SliceMemory memory = SliceMemory::host);

}  // namespace lull::bm4d
