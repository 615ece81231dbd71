#pragma once
// The cuda backend of BM4D: works on all planes of a volume on one GPU.

#include <memory>

#include "bm4d/volume_worker.h"

namespace lull::bm4d {

/// `params` and `format` are valid. For the device that is current (cuda/session_on_device.h) now
/// and whenever it works. `results_on_device`: as of Backend. Takes slices wherever they lie.
/// @throws DeviceUnavailable, OutOfDeviceMemory
[[nodiscard]] std::unique_ptr<VolumeWorker> make_cuda_worker(const Params& params,
                                                             const FrameFormat& format,
                                                             bool results_on_device);

}  // namespace lull::bm4d
