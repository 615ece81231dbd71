#include "core/error.h"
#include "noise/volume/cuda/vst_volume.h"

namespace lull::cuda {

std::unique_ptr<Denoiser> with_vst_on_device(const VolumeNoise&, const FrameFormat&, int,
                                             std::unique_ptr<Denoiser>) {
  throw DeviceUnavailable("no cuda backend (lull was built without CUDA); choose the device cpu");
}

}  // namespace lull::cuda
