#pragma once
// The cuda backend of non-local means. Workers convert, filter and return frames and slices on the
// current device.

#include <memory>

#include "nlm/params.h"
#include "nlm/slices_worker.h"
#include "time/frame_session.h"

namespace lull::nlm {

// The caller must create, use and destroy workers while their device is current. `params` and
// `format` must be valid. If `results_on_device` is true, results remain in GPU memory (Backend).
// @throws InvalidArgument  kernels cannot process planes of this format
// @throws DeviceUnavailable  this build has no CUDA
// @throws OutOfDeviceMemory

[[nodiscard]] std::unique_ptr<FrameWorker> make_cuda_frame_worker(const Params& params,
                                                                  const FrameFormat& format,
                                                                  bool results_on_device,
                                                                  const ResultSamples& results);
[[nodiscard]] std::unique_ptr<SlicesWorker> make_cuda_slices_worker(const Params& params,
                                                                    const FrameFormat& format,
                                                                    bool results_on_device,
                                                                    const ResultSamples& results);

}  // namespace lull::nlm
