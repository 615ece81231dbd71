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

/// Functions for failures of sessions. The threads of several sessions may call these functions at
/// the same time.
struct ShardOptions {
  /// Reports that the session with the index `index` has failed for the reason `why`. `left` is the
  /// number of remaining sessions. The denoiser calls this function after a remaining session has
  /// returned a result, because the same cause may make all sessions fail.
  std::function<void(std::size_t index, const DeviceFailure& why, std::size_t left)>
      on_session_lost{};
  /// Opens a session for the remaining work after the last session has failed. `why` is the first
  /// failure. If `replace` is empty, the job fails without a replacement.
  std::function<std::unique_ptr<Denoiser>(const DeviceFailure& why)> replace{};
};

/// Returns a denoiser that distributes frames to `sessions`, each in its own thread. Results have
/// the order of the frames. At most latency() + 1 frames are in flight. If a session throws a
/// DeviceFailure, the other sessions filter its frames.
/// @param repeats  detects repeated frames for a single session; may be null
[[nodiscard]] std::unique_ptr<Denoiser> shard(std::vector<std::unique_ptr<Denoiser>> sessions,
                                              ShardOptions options = {},
                                              std::unique_ptr<RepeatFinder> repeats = nullptr);

}  // namespace lull::pipeline
