#pragma once
// A denoiser of parts of a stream. Its results equal the results for the complete stream.

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

/// The frames on which the results of a filter over time depend.
struct PartContext {
  Margin margin{};
  /// Determines the state of frames whose repeat_state is unknown. Null: such frames do not count
  /// as repeated.
  std::unique_ptr<RepeatFinder> repeats{};
  /// A callback that push() calls when it has received a frame and the denoiser has computed all
  /// wanted results up to this frame. The argument is the index of the frame, counted from 0 over
  /// all frames. If no frame after this index is wanted, the caller may stop pushing frames.
  std::function<void(std::int64_t)> idle{};
};

/// Returns a denoiser for the frames in `wanted` of a single stream; it cannot be used for another
/// stream. Frames with Frame::context_only are not counted in the numbers of `wanted`. All frames
/// outside `wanted` are returned without samples, in the order of the stream. Each span is filtered
/// by a separate session, one after the other: first by `session`, then by the sessions that
/// `reopen` returns. A session also gets the margin before and after its span. Spans that are
/// closer than the margin share a session, unless context_only frames lie between them.
///
/// With a margin, the denoiser keeps the last noisy frames, without repeated frames, so that a
/// session can begin with them. Frames in GPU memory are too large to be stored; in this case, a
/// session with a margin gets the complete stream from its start.
/// @param wanted  spans in increasing order, without overlap
[[nodiscard]] std::unique_ptr<Denoiser> by_parts(std::unique_ptr<Denoiser> session,
                                                 SessionOpener reopen,
                                                 const std::vector<FrameSpan>& wanted,
                                                 PartContext part_context = {});

}  // namespace lull::pipeline
