#pragma once
// Stabilises the variance of volumes in GPU memory, as noise/volume/vst_volume.h does on the host.

#include <memory>

#include "core/denoiser.h"
#include "noise/volume/volume_noise.h"

namespace lull::cuda {

/// Makes a session for slices in the memory of GPU `device`. DevicePicture::shift of the slices
/// must be 0. The session and `filter` return results in the memory of this GPU. The results are
/// equal to the results of with_vst(), bit for bit.
/// @throws InvalidArgument  as with_vst(), or photon noise
/// @throws DeviceUnavailable
[[nodiscard]] std::unique_ptr<Denoiser> with_vst_on_device(const VolumeNoise& noise,
                                                           const FrameFormat& format, int device,
                                                           std::unique_ptr<Denoiser> filter);

}  // namespace lull::cuda
