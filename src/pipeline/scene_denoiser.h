#pragma once
// A denoiser for clips whose scenes need different filters, for example because the noise changes.

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/denoiser.h"

namespace lull::pipeline {

/// Returns the scene of a frame, counted from 0.
using SceneFinder = std::function<std::size_t(const Frame& frame)>;
/// Opens a session for a scene, counted from 0.
using SceneOpener = std::function<std::unique_ptr<Denoiser>(std::size_t scene)>;

/// Returns the number of `starts` that are not later than the frame's time. `starts`: increasing,
/// in seconds, on the time axis of Frame::pts.
[[nodiscard]] std::size_t scene_at(const Frame& frame, std::span<const double> starts);

/// Returns a denoiser that filters each scene in a session of its own, one after the other, so that
/// frames of one scene do not influence another. latency() returns the latency of the current
/// session.
///
/// A frame that repeats the previous one stays in the scene of that frame (Frame::repeat_state).
/// @param first  session of the scene in which the clip begins
/// @param find   called for each frame when it is pushed
[[nodiscard]] std::unique_ptr<Denoiser> by_scenes(std::unique_ptr<Denoiser> first, SceneFinder find,
                                                  SceneOpener open);
/// @param starts  as for scene_at(): a frame from starts[i] on belongs to scene i + 1
[[nodiscard]] std::unique_ptr<Denoiser> by_scenes(std::unique_ptr<Denoiser> first,
                                                  std::vector<double> starts, SceneOpener open);

}  // namespace lull::pipeline
