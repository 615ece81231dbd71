#pragma once
// Combines several sessions into one session, so that several GPUs share a clip that is filtered
// over time.

#include <memory>
#include <vector>

#include "core/denoiser.h"
#include "core/repeats.h"
#include "pipeline/sharded_denoiser.h"

namespace lull::pipeline {

struct PartOptions {
  Margin margin{};
  /// Maximum length of a part, at least 1; repeated frames are not counted. The margins of parts
  /// are filtered twice, so a clip in short parts takes more time than a clip in long parts.
  int frames = 1;
  /// Determines the state of frames whose repeat_state is unknown. Null: such frames do not count
  /// as repeated.
  std::unique_ptr<RepeatFinder> repeats{};
  ShardOptions shard{};
};

/// Returns a denoiser that cuts a clip into parts, which `sessions` filter. A thread drives each
/// session. A session that has finished a part takes the next part or, if there is none, half of
/// the remaining frames of another session's part. Each session also gets the margins of its part,
/// so that its results equal those of a session over the complete clip. The results do not depend
/// on the number of sessions, if all sessions are equal filters. Margin frames are marked with
/// Frame::context_distance. Samples are not copied. Repeated frames get the samples of the frame
/// that they repeat, and do not count in margins. A part never begins with a repeated frame.
/// Repeated frames belong to the part of the frame that they repeat.
///
/// At most latency() + 1 frames are in flight, without repeated frames: the length of a part for
/// each session, and one more part. (After a session has failed, the frames of one more part may be
/// added.) In addition, a session stores the samples of its current part. Frames must be in host
/// memory.
///
/// Failed sessions are handled as shard() handles them: another session filters the part again,
/// except for the results that were already returned.
/// @param sessions  at least 1, none null; each accepts another clip after it was drained
/// @throws InvalidArgument  there is no session, or an option is out of range
[[nodiscard]] std::unique_ptr<Denoiser> shard_parts(std::vector<std::unique_ptr<Denoiser>> sessions,
                                                    PartOptions options);

}  // namespace lull::pipeline
