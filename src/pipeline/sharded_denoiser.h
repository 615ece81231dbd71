#pragma once
// Combines several sessions into one, so that several GPUs share the frames of one job.

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "core/denoiser.h"
#include "core/error.h"
#include "core/repeats.h"

namespace lull::pipeline {

/// Functions that the threads of sessions call if a session fails. Several threads may call them at
/// the same time.
struct ShardOptions {
  /// Reports that the session with the index `index` has failed for the reason `why`. The remaining
  /// sessions, whose number is `left`, get its frames. Called after one of the remaining sessions
  /// has returned a result, because the same cause may make all devices fail.
  std::function<void(std::size_t index, const DeviceFailure& why, std::size_t left)>
      on_session_lost{};
  /// Opens a session for the remaining work when the last session has failed; `why` is the first
  /// failure. Empty: the job fails without a replacement.
  std::function<std::unique_ptr<Denoiser>(const DeviceFailure& why)> replace{};
};

/// Returns a denoiser that distributes frames to `sessions`, each in its own thread, and returns
/// the results in the order of the frames. A session takes its next frame when it has capacity. If
/// all sessions are equal filters that do not depend on earlier frames, the results do not depend
/// on the distribution.
///
/// At most latency() + 1 frames are in flight: the sum of the sessions' latencies and a few frames
/// for each session, so that a fast device can run ahead of a slow one. Repeated frames are not
/// counted where the session does not count them. (After a session has failed, the latency of one
/// more session may be added.)
///
/// If push() or drain() of a session throws a DeviceFailure, the session is destroyed, and the
/// other sessions get its frames. The next push() or drain() rethrows the first of these failures
/// if no session is left and none replaces them, or if frames are in GPU memory, which may belong
/// to the failed device. Any other exception of a session is rethrown at once.
/// @param sessions  at least 1, none null; each accepts frames again after it was drained
/// @param repeats for a single session with temporal filtering, in which many repeated frames may
///     be in flight: repeated frames then share samples. Null: repeated frames are not detected.
/// @throws InvalidArgument  there is no session
[[nodiscard]] std::unique_ptr<Denoiser> shard(std::vector<std::unique_ptr<Denoiser>> sessions,
                                              ShardOptions options = {},
                                              std::unique_ptr<RepeatFinder> repeats = nullptr);

}  // namespace lull::pipeline
