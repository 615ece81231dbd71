#pragma once
// Several sessions that look like one, for filters that look at several frames: how several GPUs
// share a clip that is filtered over time.

#include <memory>
#include <vector>

#include "core/denoiser.h"
#include "core/repeats.h"
#include "pipeline/sharded_denoiser.h"

namespace lull::pipeline {

struct PartOptions {
  Margin margin{};
  int frames = 1;  // of a part at most, from 1, repetitions not counted; what sessions do for the
                   // margins of parts is lost
  /// Asked for frames whose likeness is unknown. Null: there are no repetitions.
  std::unique_ptr<RepeatFinder> repeats{};
  ShardOptions shard{};
};

/// A denoiser that cuts a clip into parts, which `sessions` filter, each driven by a thread of its
/// own: when a session is done with a part it takes the next one, or, where there is none, half of
/// what another session has before it. It sees the margins of the part too, so that its results are
/// those of a session that sees the whole clip, and their bytes do not depend on the number of
/// sessions as long as these are equal filters. It marks margin frames as context only
/// (Frame::aside). Samples are not copied. Repetitions get the samples of the frame that they
/// repeat, and are no part of margins: a part begins with a frame that is none, and may be longer
/// by those that follow its last.
///
/// Frames in flight are at most latency() + 1, repetitions not counted: the length of a part for
/// each session and one. (After a session was lost, those of one more part may come on top.) Beside
/// them, a session keeps the samples of the part it is in. Frames must be in the host's memory.
///
/// Sessions that fail are dealt with as by shard(): the part that one had is filtered again by
/// another, without the results that are out.
/// @param sessions  from 1, none null; each takes another clip once it is drained
/// @throws InvalidArgument  there is no session, or an option is out of range
[[nodiscard]] std::unique_ptr<Denoiser> shard_parts(std::vector<std::unique_ptr<Denoiser>> sessions,
                                                    PartOptions options);

}  // namespace lull::pipeline
