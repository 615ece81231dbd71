#pragma once
// A part of a stream denoised as if all of it was.

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/denoiser.h"
#include "core/repeats.h"

namespace lull::pipeline {

struct FrameSpan {
  std::int64_t first = 0, last = 0;  // both are in it; frames are counted from 0
};

using SessionOpener = std::function<std::unique_ptr<Denoiser>()>;

/// What a frame's result depends on beside the frame, for a filter along time.
struct Surroundings {
  Margin margin{};
  /// Asked for frames whose likeness is unknown. Null: there are no repetitions.
  std::unique_ptr<RepeatFinder> repeats{};
  /// Told the number of each frame, all counted, after which no result is wanted of those before
  /// that is not there, so that frames behind it are only needed if one of them is wanted. By the
  /// thread that pushes.
  std::function<void(std::int64_t)> idle{};
};

/// A denoiser of the frames in `wanted` alone, of one stream and no other after it; frames that say
/// that they are outside (Frame::outside) do not count in its numbers. The others come through in
/// their places, without samples. Each span has a session of its own, one after the
/// other: the first `session`, then what `reopen` gives. A session also sees the margin before and
/// after its span; spans that are nearer than that share one, unless frames that are outside lie
/// between them.
///
/// With a margin, the last noisy frames that are no repetitions are kept for a session to begin
/// with. Frames in a GPU's memory are too dear to be kept: there a session with a margin sees the
/// stream from its start.
/// @param wanted  rising, without overlap
[[nodiscard]] std::unique_ptr<Denoiser> by_parts(std::unique_ptr<Denoiser> session,
                                                 SessionOpener reopen,
                                                 const std::vector<FrameSpan>& wanted,
                                                 Surroundings surroundings = {});

}  // namespace lull::pipeline
