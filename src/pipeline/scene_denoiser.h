#pragma once
// A denoiser for clips whose scenes need different filters, for example because the noise changes.

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/denoiser.h"

namespace lull::pipeline {

/// A function that returns the index of the scene to which a frame belongs. The first scene has the
/// index 0.
using SceneFinder = std::function<std::size_t(const Frame& frame)>;
/// A function that opens a session for the scene with this index.
using SceneOpener = std::function<std::unique_ptr<Denoiser>(std::size_t scene)>;

/// Returns how many of the times `starts` are at or before the time of the frame. `starts` contains
/// increasing times in seconds, on the time axis of Frame::pts.
[[nodiscard]] std::size_t scene_at(const Frame& frame, std::span<const double> starts);

/// Returns a denoiser that filters the scenes one after the other, each in a session of its own, so
/// that the frames of a scene do not influence the results of other scenes. latency() returns the
/// latency of the current session.
///
/// A frame that repeats the previous frame belongs to the scene of that frame
/// (Frame::repeat_state).
/// @param first  session for the scene in which the clip begins
/// @param find  is called for each frame when the frame is pushed
[[nodiscard]] std::unique_ptr<Denoiser> by_scenes(std::unique_ptr<Denoiser> first, SceneFinder find,
                                                  SceneOpener open);
/// @param starts  as for scene_at(). A frame whose time is starts[i] or later, but before starts[i
/// + 1], belongs to scene i + 1
[[nodiscard]] std::unique_ptr<Denoiser> by_scenes(std::unique_ptr<Denoiser> first,
                                                  std::vector<double> starts, SceneOpener open);

}  // namespace lull::pipeline
