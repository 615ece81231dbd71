#pragma once
// The cuda backend of non-local means: works on planes on one GPU.

#include <memory>

#include "nlm/engine.h"

namespace lull::nlm {

/// @throws DeviceUnavailable  there is no such GPU, or this build has no CUDA
/// @throws OutOfDeviceMemory
[[nodiscard]] std::unique_ptr<FrameEngine> make_cuda_frame_engine(const FramePlan& plan,
                                                                  int device);
[[nodiscard]] std::unique_ptr<VolumeEngine> make_cuda_volume_engine(const VolumePlan& plan,
                                                                    int device);

}  // namespace lull::nlm
