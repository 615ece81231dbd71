#pragma once
// The cuda backend of BM4D: works on all planes of a volume on one GPU.

#include <memory>

#include "bm4d/volume_worker.h"

namespace lull::bm4d {

/// `params` and `format` are valid. For the device that is current (cuda/session_on_device.h) now
/// and whenever it works. @throws DeviceUnavailable, OutOfDeviceMemory
[[nodiscard]] std::unique_ptr<VolumeWorker> make_cuda_worker(const Params& params,
                                                             const FrameFormat& format);

}  // namespace lull::bm4d
