#pragma once
// A denoiser with an observer, which gets each input frame together with its result.

#include <functional>
#include <memory>

#include "core/denoiser.h"

namespace lull::pipeline {

/// Receives each frame and its result, in order, in the thread that uses the denoiser.
using Observer = std::function<void(const Frame& noisy, const Frame& result)>;

/// Returns an observer that calls `observer` with results in the sample format of the input, even
/// if the session's results have another bit depth.
[[nodiscard]] Observer in_input_samples(Observer observer);

/// Selects the frames that an observer gets: only frames whose results have samples, or all frames.
enum class ObservedFrames { with_samples, all };

/// Returns a denoiser that calls `observer`, and stores the frames in flight until their results
/// are returned. Frames must be in host memory.
[[nodiscard]] std::unique_ptr<Denoiser> observed(
    std::unique_ptr<Denoiser> denoiser, Observer observer,
    ObservedFrames which = ObservedFrames::with_samples);

}  // namespace lull::pipeline
