#pragma once
// The cuda backend of BM4D: works on one plane of a volume on one GPU.

#include <memory>

#include "bm4d/volume_engine.h"

namespace lull::bm4d {

/// @throws DeviceUnavailable  there is no such GPU, or this build has no CUDA
/// @throws OutOfDeviceMemory
[[nodiscard]] std::unique_ptr<VolumeEngine> make_cuda_engine(const VolumePlan& plan, int device);

}  // namespace lull::bm4d
