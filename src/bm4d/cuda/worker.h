#pragma once
// The cuda backend of BM4D: processes all planes of a volume on one GPU.

#include <memory>

#include "bm4d/volume_worker.h"

namespace lull::bm4d {

/// Makes a worker for the current device, which must be current at every use
/// (cuda/session_on_device.h). `params` and `format` must be valid. Slices may be in device or host
/// memory. If `results_on_device` is true, results remain in GPU memory.
/// @throws InvalidArgument  kernels cannot address slices of this size
/// @throws DeviceUnavailable, OutOfDeviceMemory
[[nodiscard]] std::unique_ptr<VolumeWorker> make_cuda_worker(const Params& params,
                                                             const FrameFormat& format,
                                                             bool results_on_device,
                                                             const ResultSamples& results);

}  // namespace lull::bm4d
