#pragma once
// Denoises clips whose scenes need different filters, for example because the noise changes.

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/denoiser.h"

namespace lull::pipeline {

/// Returns the index of the scene to which a frame belongs, counted from 0.
using SceneFinder = std::function<std::size_t(const Frame& frame)>;
/// Opens a session for the scene with this index.
using SceneOpener = std::function<std::unique_ptr<Denoiser>(std::size_t scene)>;

/// Returns how many of the times `starts` are at or before the time of the frame. `starts` contains
/// increasing times in seconds, relative to the same origin as Frame::pts.
[[nodiscard]] std::size_t scene_at(const Frame& frame, std::span<const double> starts);

/// Returns a denoiser that filters each scene in a session of its own, so that the frames of a
/// scene do not influence other scenes. latency() returns the latency of the current session.
///
/// A frame that repeats the previous frame (Frame::repeat_state) belongs to the same scene.
/// @param first  session for the scene in which the clip begins
/// @param find  is called for each frame when the frame is pushed
[[nodiscard]] std::unique_ptr<Denoiser> by_scenes(std::unique_ptr<Denoiser> first, SceneFinder find,
                                                  SceneOpener open);
/// @param starts  as for scene_at(): a frame from starts[i] on, but before starts[i + 1], belongs
///     to scene i + 1
[[nodiscard]] std::unique_ptr<Denoiser> by_scenes(std::unique_ptr<Denoiser> first,
                                                  std::vector<double> starts, SceneOpener open);

}  // namespace lull::pipeline
