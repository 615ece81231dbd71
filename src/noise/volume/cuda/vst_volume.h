#pragma once
// Stabilises the variance of volumes (noise/volume/vst_volume.h) in the memory of a GPU.

#include <memory>

#include "core/denoiser.h"
#include "noise/volume/volume_noise.h"

namespace lull::cuda {

/// Makes a session like with_vst(), with bit for bit the same results, for slices in the memory of
/// GPU `device`, given plane by plane. Results stay on the GPU. `filter` must run on that GPU and
/// leave its results there.
/// @throws InvalidArgument  as with_vst()
/// @throws DeviceUnavailable
[[nodiscard]] std::unique_ptr<Denoiser> with_vst_on_device(const VolumeNoise& noise,
                                                           const FrameFormat& format, int device,
                                                           std::unique_ptr<Denoiser> filter);

}  // namespace lull::cuda
