#pragma once
// A denoiser that is watched: what went in, beside what came of it.

#include <functional>
#include <memory>

#include "core/denoiser.h"

namespace lull::pipeline {

/// Called with each frame and its result, in order, by the thread that uses the denoiser.
using Observer = std::function<void(const Frame& noisy, const Frame& result)>;

/// Frames in flight are kept until their results are out. A frame that comes back without samples
/// is not shown. Frames must be in the host's memory.
[[nodiscard]] std::unique_ptr<Denoiser> observed(std::unique_ptr<Denoiser> denoiser,
                                                 Observer observer);

}  // namespace lull::pipeline
