#pragma once
// Denoises parts of a stream, with the same results as for the complete stream.

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/denoiser.h"
#include "core/repeats.h"

namespace lull::pipeline {

struct FrameSpan {
  std::int64_t first = 0, last = 0;  // both inclusive; frames are counted from 0
};

using SessionOpener = std::function<std::unique_ptr<Denoiser>()>;

/// The frames on which the results of temporal filtering depend.
struct PartContext {
  Margin margin{};
  /// Determines Frame::repeat_state where it is unknown. Null: frames of unknown state do not count
  /// as repeated.
  std::unique_ptr<RepeatFinder> repeats{};
  /// push() calls this function when it has received a frame and all wanted results up to this
  /// frame have been computed. The argument is the index of the frame, counted from 0 over all
  /// frames. The caller may stop pushing frames if none after this index is wanted.
  std::function<void(std::int64_t)> idle{};
};

/// Returns a denoiser for the frames in `wanted` of a single stream. Other frames are returned
/// without samples, in the order of the stream. Frames with Frame::context_only are not counted in
/// the numbers of `wanted`.
///
/// Each span of `wanted` has its own session: `session` for the first span, and sessions from
/// `reopen` for the others. A session also gets the margin before and after its span. Spans that
/// are closer than the margin share a session, unless context_only frames lie between them.
///
/// With a margin, the denoiser keeps the last noisy frames, without repeated frames, for the
/// beginning of a session. Frames in GPU memory are too large to be stored, so a session with a
/// margin then gets the complete stream from its start.
/// @param wanted  spans in increasing order, without overlap
[[nodiscard]] std::unique_ptr<Denoiser> by_parts(std::unique_ptr<Denoiser> session,
                                                 SessionOpener reopen,
                                                 const std::vector<FrameSpan>& wanted,
                                                 PartContext part_context = {});

}  // namespace lull::pipeline
