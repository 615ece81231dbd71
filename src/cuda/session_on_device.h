#pragma once
// Sessions that are bound to one GPU.

#include <functional>
#include <memory>

#include "core/denoiser.h"

namespace lull::cuda {

/// Calls `open`, and returns a wrapper of the new session. The wrapper selects GPU
/// `device` whenever it opens, uses or destroys the session. If the GPU becomes unavailable or runs
/// out of memory after open(), the wrapper throws DeviceFailure.
/// @throws DeviceUnavailable  the GPU does not exist, or this build has no CUDA
/// @throws any exception of `open`
[[nodiscard]] std::unique_ptr<Denoiser> open_on_device(
    int device, const std::function<std::unique_ptr<Denoiser>()>& open);

}  // namespace lull::cuda
