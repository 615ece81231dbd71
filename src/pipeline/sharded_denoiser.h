#pragma once
// Several sessions that look like one: how several GPUs share the frames of one job.

#include <memory>
#include <vector>

#include "core/denoiser.h"

namespace lull::pipeline {

/// A denoiser that deals frames to `sessions`, each driven by a thread of its own, and gives the
/// results back in the order in which the frames came. A session takes its next frame when it has
/// room, so that a fast device takes more of them; which session took a frame does not show in its
/// bytes as long as the sessions are equal filters. For filters without memory of earlier frames
/// only. With a single session, use that session itself.
///
/// Frames in flight are at most latency() + 1: the sum of the sessions' latencies and a few for
/// each, so that a fast device can run ahead of a slow one.
/// A failure of any session is rethrown by the next push() or drain().
/// @param sessions  from 1, none null
/// @throws InvalidArgument  there is no session
[[nodiscard]] std::unique_ptr<Denoiser> shard(std::vector<std::unique_ptr<Denoiser>> sessions);

}  // namespace lull::pipeline
