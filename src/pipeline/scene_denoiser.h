#pragma once
// A clip of scenes that want different filters: one whose noise changes, say.

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/denoiser.h"

namespace lull::pipeline {

/// Opens a session for a scene, counted from 0.
using SceneOpener = std::function<std::unique_ptr<Denoiser>(std::size_t scene)>;

/// A denoiser that gives each scene to a session of its own, one after the other, so that no frame
/// of one helps another. latency() is that of the first.
///
/// A frame that repeats the one before it stays with it (Frame::likeness).
/// @param first   session of the scene in which the clip begins
/// @param starts  rising; in seconds of Frame::pts: a frame from starts[i] on is of scene i + 1
[[nodiscard]] std::unique_ptr<Denoiser> by_scenes(std::unique_ptr<Denoiser> first,
                                                  std::vector<double> starts, SceneOpener open);

}  // namespace lull::pipeline
