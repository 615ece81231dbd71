#pragma once
// The GPU work of a session with temporal filtering (time/frame_session.h).

#include <memory>

#include "bm3d/params.h"
#include "match/cuda/matcher.h"
#include "time/frame_session.h"

namespace lull::bm3d {

/// Makes the worker. The current device must be the same in all calls, including the destructor.
/// `params` and `format` must pass require_addressable(). If `results_on_device` is true, results
/// remain in GPU memory.
/// @throws DeviceUnavailable, OutOfDeviceMemory
[[nodiscard]] std::unique_ptr<FrameWorker> make_cuda_worker(const Params& params,
                                                            const FrameFormat& format,
                                                            cuda::MatcherFactory make_matcher,
                                                            bool results_on_device,
                                                            const ResultSamples& results);

/// Makes the worker for temporal linear combinations. The worker follows the plan
/// linear_session_plan(). `params` must satisfy combines_over_time(). In addition, the requirements
/// of make_cuda_worker() apply.
[[nodiscard]] std::unique_ptr<FrameWorker> make_linear_cuda_worker(const Params& params,
                                                                   const FrameFormat& format,
                                                                   bool results_on_device,
                                                                   const ResultSamples& results);
/// Returns true if the current device can compute temporal linear combinations
/// (linear/cuda/over_time.h).
[[nodiscard]] bool combines_over_time(const Params& params, const FrameFormat& format);

}  // namespace lull::bm3d
