#pragma once
// Sessions on one GPU.

#include <functional>
#include <memory>

#include "core/denoiser.h"

namespace lull::cuda {

/// What `open` gives, with the GPU current while it is made, while it works, and while it is
/// destroyed. Where a GPU that could be used when the session was opened cannot any more, or lacks
/// memory, it has failed: calls then throw DeviceFailure.
/// @throws DeviceUnavailable  there is no such GPU, or this build has no CUDA; and what `open`
/// throws
[[nodiscard]] std::unique_ptr<Denoiser> open_on_device(
    int device, const std::function<std::unique_ptr<Denoiser>()>& open);

}  // namespace lull::cuda
