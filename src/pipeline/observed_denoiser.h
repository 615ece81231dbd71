#pragma once
// A denoiser that is watched: what went in, beside what came of it.

#include <functional>
#include <memory>

#include "core/denoiser.h"

namespace lull::pipeline {

/// Called with each frame and its result, in order, by the thread that uses the denoiser.
using Observer = std::function<void(const Frame& noisy, const Frame& result)>;

/// Which frames are shown to an observer: those that come back with samples, or all.
enum class Shown { with_samples, all };

/// Frames in flight are kept until their results are out. Frames must be in the host's memory.
[[nodiscard]] std::unique_ptr<Denoiser> observed(std::unique_ptr<Denoiser> denoiser,
                                                 Observer observer,
                                                 Shown which = Shown::with_samples);

}  // namespace lull::pipeline
