#pragma once
// A denoiser that passes each input frame and its result to an observer.

#include <functional>
#include <memory>

#include "core/denoiser.h"

namespace lull::pipeline {

/// A function that receives each frame and its result, in the order of the frames. The thread that
/// uses the denoiser calls the observer.
using Observer = std::function<void(const Frame& noisy, const Frame& result)>;

/// Returns an observer that converts each result to the sample format of the input, and passes the
/// frame and the converted result to `observer`.
[[nodiscard]] Observer in_input_samples(Observer observer);

/// Selects the frames that an observer receives: frames whose results have samples, or all frames.
enum class ObservedFrames { with_samples, all };

/// Returns a denoiser that passes each frame and its result to `observer`. The denoiser stores each
/// frame until the result is ready. Frames must be in host memory.
[[nodiscard]] std::unique_ptr<Denoiser> observed(
    std::unique_ptr<Denoiser> denoiser, Observer observer,
    ObservedFrames which = ObservedFrames::with_samples);

}  // namespace lull::pipeline
