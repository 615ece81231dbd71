#pragma once
// Several sessions that look like one: how several GPUs share the frames of one job.

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "core/denoiser.h"
#include "core/error.h"
#include "core/repeats.h"

namespace lull::pipeline {

/// What happens when sessions fail. Both are called by a session's thread, each for one session
/// after the other or for several at a time.
struct ShardOptions {
  /// Told that session `index` is lost, for `why`, and its frames go to the `left` others; once one
  /// of these has given a result since, for what breaks one device may break all.
  std::function<void(std::size_t index, const DeviceFailure& why, std::size_t left)> lost{};
  /// Opens the session that does the rest when the last one is lost; `why` is the first of the
  /// failures. Empty: there is none, and the job fails.
  std::function<std::unique_ptr<Denoiser>(const DeviceFailure& why)> replace{};
};

/// A denoiser that deals frames to `sessions`, each driven by a thread of its own, and gives the
/// results back in the order in which the frames came. A session takes its next frame when it has
/// room, so that a fast device takes more of them; which session took a frame does not show in its
/// bytes as long as the sessions are equal filters. Several are for filters without memory of
/// earlier frames only. With a single session and nothing to replace it, use that session itself.
///
/// Frames in flight are at most latency() + 1: the sum of the sessions' latencies and a few for
/// each, so that a fast device can run ahead of a slow one; repetitions not counted where the
/// session does not count them. (After a session was lost, the latency
/// of one more may come on top.)
///
/// A session whose push() or drain() throws a DeviceFailure is lost and destroyed. The frames it
/// had, which are kept until their results are out, are dealt to the others; when none is left,
/// and nothing replaces it, the first of these failures is rethrown by the next push() or drain().
/// So it is at once where frames are in the memory of a GPU: it may be the one that failed. So is
/// any other exception of a session.
/// @param sessions  from 1, none null; each takes frames again once it is drained
/// @param repeats   for a single session that looks at other frames and holds many repetitions:
///                  these then share samples. Null: nobody looks for repetitions.
/// @throws InvalidArgument  there is no session
[[nodiscard]] std::unique_ptr<Denoiser> shard(std::vector<std::unique_ptr<Denoiser>> sessions,
                                              ShardOptions options = {},
                                              std::unique_ptr<RepeatFinder> repeats = nullptr);

}  // namespace lull::pipeline
