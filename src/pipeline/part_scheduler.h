#pragma once
// A denoiser that divides a clip into parts and filters the parts in several temporal sessions, so
// that several GPUs can share the clip.

#include <memory>
#include <vector>

#include "core/denoiser.h"
#include "core/repeats.h"
#include "pipeline/sharded_denoiser.h"

namespace lull::pipeline {

struct PartOptions {
  Margin margin{};
  /// Maximum number of frames of a part, at least 1. Repeated frames and margin frames do not
  /// count. Short parts are slower, because two sessions filter each margin.
  int frames = 1;
  /// Determines unknown values of Frame::repeat_state. If `repeats` is null, the denoiser treats
  /// frames of unknown state as frames that are not repeated.
  std::unique_ptr<RepeatFinder> repeats{};
  ShardOptions shard{};
};

/// Returns a denoiser that filters parts of a clip, with their margins, in parallel. If all
/// sessions are equal, the results are equal to the results of a single session. Frames must be in
/// host memory.
/// @throws InvalidArgument  there is no session, or an option is out of range
[[nodiscard]] std::unique_ptr<Denoiser> shard_parts(std::vector<std::unique_ptr<Denoiser>> sessions,
                                                    PartOptions options);

}  // namespace lull::pipeline
