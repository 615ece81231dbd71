#pragma once
// Combines several sessions into one denoiser. Several GPUs then share the frames of one job.

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "core/denoiser.h"
#include "core/error.h"
#include "core/repeats.h"

namespace lull::pipeline {

/// Functions that the denoiser calls after the failure of a session. The threads of several
/// sessions may call these functions at the same time.
struct ShardOptions {
  /// Reports that the session with the index `index` has failed for the reason `why`. `left` is the
  /// number of remaining sessions. The denoiser delays this call until a remaining session has
  /// returned a result. If all sessions fail before any result, the denoiser does not call this
  /// function.
  std::function<void(std::size_t index, const DeviceFailure& why, std::size_t left)>
      on_session_lost{};
  /// Opens a session for the remaining work after the last session has failed. `why` is the first
  /// failure. Without this function, the job fails.
  std::function<std::unique_ptr<Denoiser>(const DeviceFailure& why)> replace{};
};

/// Returns a denoiser that distributes frames to `sessions`, each in its own thread. Results have
/// the order of the frames. If all sessions are equal filters without dependence on earlier frames,
/// the distribution does not affect the results.

/// Failures: if push() or drain() of a session throws a DeviceFailure, the denoiser destroys the
/// session. The other sessions filter the frames of the failed session. The next push() or drain()
/// of the denoiser rethrows all other exceptions of sessions.

/// The next push() or drain() rethrows the first DeviceFailure in two cases: no session is left and
/// ShardOptions::replace is empty, or frames are in GPU memory, possibly of the failed device.

/// Latency: at most latency() + 1 frames are in flight. latency() is the sum of the latencies of
/// the sessions plus a few frames for each session. More frames may be in flight if a session does
/// not count repeated frames, or if a session has failed.

/// Repeated frames: a single session with temporal filtering may have many repeated frames in
/// flight. `repeats` detects repeated frames, which then share samples. If `repeats` is null, the
/// denoiser detects no repeated frames.
/// @param sessions  none null; must accept frames after drain()
/// @throws InvalidArgument  `sessions` is empty
[[nodiscard]] std::unique_ptr<Denoiser> shard(std::vector<std::unique_ptr<Denoiser>> sessions,
                                              ShardOptions options = {},
                                              std::unique_ptr<RepeatFinder> repeats = nullptr);

}  // namespace lull::pipeline
