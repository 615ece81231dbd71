#pragma once
// Combines several sessions into one session, so that several GPUs share the frames of one job.

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "core/denoiser.h"
#include "core/error.h"
#include "core/repeats.h"

namespace lull::pipeline {

/// Functions that are called if a session fails. The threads of the sessions call them, possibly
/// several threads at a time.
struct ShardOptions {
  /// Reports that session `index` has failed for the reason `why`. The remaining `left` sessions
  /// get its frames. The function is called after one of the remaining sessions has returned a
  /// result, because the same cause may make all devices fail.
  std::function<void(std::size_t index, const DeviceFailure& why, std::size_t left)>
      on_session_lost{};
  /// Opens the session that does the remaining work when the last session has failed; `why` is the
  /// first failure. Empty: there is no replacement, and the job fails.
  std::function<std::unique_ptr<Denoiser>(const DeviceFailure& why)> replace{};
};

/// Returns a denoiser that distributes frames to `sessions`, each driven by a thread of its own,
/// and returns the results in the order of the frames. A session takes its next frame when it has
/// capacity, so that a fast device takes more frames. The results do not depend on which session
/// takes a frame, if all sessions are equal filters. Use several sessions only for filters that do
/// not depend on earlier frames. For a single session without a replacement, use that session
/// itself.
///
/// At most latency() + 1 frames are in flight: the sum of the sessions' latencies and a few frames
/// for each session, so that a fast device can run ahead of a slow one. Repeated frames are not
/// counted where the session does not count them. (After a session has failed, the latency of one
/// more session may be added.)
///
/// A session whose push() or drain() throws a DeviceFailure has failed and is destroyed. Its
/// frames, which are kept until their results are returned, are distributed to the other sessions.
/// When no session is left, and none replaces them, the next push() or drain() rethrows the first
/// of these failures. The failure is rethrown at once if frames are in GPU memory, because the
/// memory may belong to the failed device. Any other exception of a session is also rethrown at
/// once.
/// @param sessions  at least 1, none null; each accepts frames again after it was drained
/// @param repeats for a single session that filters over time, in which many repeated frames may be
///   in flight: repeated frames then share samples. Null: repeated frames are not detected.
/// @throws InvalidArgument  there is no session
[[nodiscard]] std::unique_ptr<Denoiser> shard(std::vector<std::unique_ptr<Denoiser>> sessions,
                                              ShardOptions options = {},
                                              std::unique_ptr<RepeatFinder> repeats = nullptr);

}  // namespace lull::pipeline
