#pragma once
// A GPU's work on frames that are filtered over time, behind a session of frame_session.h.

#include <memory>

#include "bm3d/params.h"
#include "match/cuda/matcher.h"
#include "time/frame_session.h"

namespace lull::bm3d {

/// Made, used and destroyed while its device is current. `results_on_device`: as of Backend.
/// @throws InvalidArgument  planes too large to be addressed
/// @throws DeviceUnavailable, OutOfDeviceMemory
[[nodiscard]] std::unique_ptr<FrameWorker> make_cuda_worker(const Params& params,
                                                            const FrameFormat& format,
                                                            cuda::MatcherFactory make_matcher,
                                                            bool results_on_device);

}  // namespace lull::bm3d
