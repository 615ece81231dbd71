#pragma once
// Combines several sessions into one, so that several GPUs share a clip for temporal filtering.

#include <memory>
#include <vector>

#include "core/denoiser.h"
#include "core/repeats.h"
#include "pipeline/sharded_denoiser.h"

namespace lull::pipeline {

struct PartOptions {
  Margin margin{};
  /// Maximum length of a part, at least 1; repeated frames do not count. Short parts take more
  /// time, because the margins of parts are filtered twice.
  int frames = 1;
  /// Determines Frame::repeat_state where it is unknown. Null: frames of unknown state do not count
  /// as repeated.
  std::unique_ptr<RepeatFinder> repeats{};
  ShardOptions shard{};
};

/// Returns a denoiser that cuts a clip into parts. Each of `sessions` filters parts in its own
/// thread. When a session has finished a part, it takes the next part, or half of the remaining
/// frames of another session's part. A session also gets the margins of its part, marked with
/// Frame::context_distance. The results therefore equal those of one session over the complete clip
/// if all sessions are equal. Samples are not copied. Repeated frames belong to the part of the
/// frame that they repeat, get its samples, and do not count in margins.
///
/// At most latency() + 1 frames are in flight, without repeated frames: the length of a part for
/// each session, and one more part. (After a session has failed, the frames of one more part may be
/// added.) In addition, a session stores the samples of its current part. Frames must be in host
/// memory.
///
/// Failed sessions are handled as in shard(): another session filters the part again, except for
/// results that were already returned.
/// @param sessions  at least 1, none null; each accepts another clip after it was drained
/// @throws InvalidArgument  there is no session, or an option is out of range
[[nodiscard]] std::unique_ptr<Denoiser> shard_parts(std::vector<std::unique_ptr<Denoiser>> sessions,
                                                    PartOptions options);

}  // namespace lull::pipeline
