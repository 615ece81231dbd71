#pragma once
// Denoises clips whose scenes need different filters, for example because the noise level changes
// from scene to scene.

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/denoiser.h"

namespace lull::pipeline {

/// Returns the index of the scene that contains a frame, counted from 0.
using SceneFinder = std::function<std::size_t(const Frame& frame)>;
/// Opens a session for the scene with the given index.
using SceneOpener = std::function<std::unique_ptr<Denoiser>(std::size_t scene)>;

/// Returns the number of elements of `starts` that are not later than the time of the frame.
/// `starts` contains increasing times in seconds, with the same origin as Frame::pts.
[[nodiscard]] std::size_t scene_at(const Frame& frame, std::span<const double> starts);

/// Returns a denoiser that filters each scene in its own session. A repeated frame belongs to the
/// scene of the frame that it repeats. latency() returns the latency of the current session.
/// @param first  session for scene 0, in which the clip begins
/// @param find  finds the scene of a frame that is not repeated
/// @param open  opens the sessions of all other scenes
[[nodiscard]] std::unique_ptr<Denoiser> by_scenes(std::unique_ptr<Denoiser> first, SceneFinder find,
                                                  SceneOpener open);
/// @param starts  increasing times in seconds, as for scene_at(); scene i + 1 begins at the time
///     starts[i], and scene 0 contains the frames before starts[0]
[[nodiscard]] std::unique_ptr<Denoiser> by_scenes(std::unique_ptr<Denoiser> first,
                                                  std::vector<double> starts, SceneOpener open);

}  // namespace lull::pipeline
