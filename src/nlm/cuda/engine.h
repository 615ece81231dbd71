#pragma once
// The cuda backend of non-local means: works on planes on the current device.

#include <memory>

#include "nlm/engine.h"

namespace lull::nlm {

/// @throws DeviceUnavailable  this build has no CUDA
/// @throws OutOfDeviceMemory
[[nodiscard]] std::unique_ptr<FrameEngine> make_cuda_frame_engine(const FramePlan& plan);
[[nodiscard]] std::unique_ptr<VolumeEngine> make_cuda_volume_engine(const VolumePlan& plan);

}  // namespace lull::nlm
