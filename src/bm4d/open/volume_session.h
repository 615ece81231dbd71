#pragma once
// The BM4D session decides which reference cubes the worker (volume_worker.h) filters, and when.
// The worker processes the samples. The session also copies time and side data from input slices to
// results.

#include <memory>

#include "bm4d/params.h"
#include "bm4d/volume_worker.h"
#include "core/denoiser.h"
#include "time/slice_session.h"

namespace lull::bm4d {

/// Opens a BM4D session. `params` and `format` must be valid, and equal to the parameters and the
/// format of `worker`. `worker` must accept slices in `memory`.
[[nodiscard]] std::unique_ptr<Denoiser> open_volumes(const Params& params,
                                                     const FrameFormat& format,
                                                     std::unique_ptr<VolumeWorker> worker,
                                                     const ResultSamples& results,
                                                     SliceMemory memory = SliceMemory::host);

}  // namespace lull::bm4d
