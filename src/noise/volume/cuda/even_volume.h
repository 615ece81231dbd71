#pragma once
// Volumes whose noise is made even (noise/volume/even_volume.h) in the memory of a GPU.

#include <memory>

#include "core/denoiser.h"
#include "noise/volume/volume_noise.h"

namespace lull::cuda {

/// The session of made_even(), with the same results to the bit, for slices in the memory of GPU
/// `device`, plane by plane; results stay there. `filter` runs on that GPU and leaves its results
/// there, too.
/// @throws InvalidArgument as made_even(); DeviceUnavailable
[[nodiscard]] std::unique_ptr<Denoiser> made_even_on_device(const VolumeNoise& noise,
                                                            const FrameFormat& format, int device,
                                                            std::unique_ptr<Denoiser> filter);

}  // namespace lull::cuda
