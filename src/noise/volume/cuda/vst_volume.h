#pragma once
// Stabilises the variance of volumes in GPU memory, as noise/volume/vst_volume.h does on the host.

#include <memory>

#include "core/denoiser.h"
#include "noise/volume/volume_noise.h"

namespace lull::cuda {

/// Makes a session with the same results as with_vst(), bit for bit, for slices in the memory of
/// GPU `device`, plane by plane. Results, and the results of `filter`, are in the memory of this
/// GPU.
/// @throws InvalidArgument  as with_vst()
/// @throws DeviceUnavailable
[[nodiscard]] std::unique_ptr<Denoiser> with_vst_on_device(const VolumeNoise& noise,
                                                           const FrameFormat& format, int device,
                                                           std::unique_ptr<Denoiser> filter);

}  // namespace lull::cuda
