#pragma once
// Denoises parts of a stream. The results equal the results for the complete stream.

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

/// Parameters of by_parts(). `margin` states how many frames before and after a span affect the
/// results of the span in temporal filtering.
struct PartContext {
  Margin margin{};
  /// Determines unknown values of Frame::repeat_state. If `repeats` is null, the denoiser treats
  /// frames of unknown state as frames that are not repeated.
  std::unique_ptr<RepeatFinder> repeats{};
  /// push() calls this function when all needed results up to the received frame are complete. The
  /// argument is the index of the received frame, counted from 0 over all frames. The caller may
  /// stop the input if no later frame is needed.
  std::function<void(std::int64_t)> idle{};
};

/// Returns a denoiser for the frames in `wanted`. All other results are frames without samples.
/// Results have the order of the stream. `session` filters the first span, and `reopen` opens a
/// session for each further span. Each session also receives the margins of its span.
/// @param wanted  ascending, without overlap; Frame::context_only frames do not count
[[nodiscard]] std::unique_ptr<Denoiser> by_parts(std::unique_ptr<Denoiser> session,
                                                 SessionOpener reopen,
                                                 const std::vector<FrameSpan>& wanted,
                                                 PartContext part_context = {});

}  // namespace lull::pipeline
