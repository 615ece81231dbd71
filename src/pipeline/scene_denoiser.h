#pragma once
// A clip of scenes that want different filters: one whose noise changes, say.

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/denoiser.h"

namespace lull::pipeline {

/// Which scene a frame is of, counted from 0.
using SceneFinder = std::function<std::size_t(const Frame& frame)>;
/// Opens a session for a scene, counted from 0.
using SceneOpener = std::function<std::unique_ptr<Denoiser>(std::size_t scene)>;

/// How many of these times have come by a frame's. `starts`: rising; in seconds of Frame::pts.
[[nodiscard]] std::size_t scene_at(const Frame& frame, std::span<const double> starts);

/// A denoiser that gives each scene to a session of its own, one after the other, so that no frame
/// of one helps another. latency() is that of the first.
///
/// A frame that repeats the one before it stays with it (Frame::likeness).
/// @param first  session of the scene in which the clip begins
/// @param find   asked for each frame when it goes in
[[nodiscard]] std::unique_ptr<Denoiser> by_scenes(std::unique_ptr<Denoiser> first, SceneFinder find,
                                                  SceneOpener open);
/// @param starts  as of scene_at(): a frame from starts[i] on is of scene i + 1
[[nodiscard]] std::unique_ptr<Denoiser> by_scenes(std::unique_ptr<Denoiser> first,
                                                  std::vector<double> starts, SceneOpener open);

}  // namespace lull::pipeline
