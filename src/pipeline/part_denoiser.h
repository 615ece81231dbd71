#pragma once
// A part of a stream denoised as if all of it was.

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/denoiser.h"

namespace lull::pipeline {

struct FrameSpan {
  std::int64_t first = 0, last = 0;  // both are in it; frames are counted from 0
};

using SessionOpener = std::function<std::unique_ptr<Denoiser>()>;

/// What a frame is to a filter along time.
enum class Standing {
  repeats,   // it gets the result of the last distinct one
  distinct,  // it has a result of its own
  entry,     // distinct, and a session may begin with it
};

/// What a frame's result depends on beside the frame, for a filter along time.
struct Surroundings {
  /// So many distinct frames before and after it; what lies between them too.
  int margin = 0;
  /// Called for the frames in order, while it matters. The first is an entry. Empty: all are. It
  /// may replace a frame's samples by equal ones.
  std::function<Standing(Frame&)> standing;
};

/// A denoiser of the frames in `wanted` alone, of one stream. The others come through in their
/// places, without samples. Each span has a session of its own, one after the other: the first
/// `session`, then what `reopen` gives. A session also sees the margin before and after its span;
/// spans that are nearer than that share one.
///
/// With a margin, noisy frames are kept for a session to begin with: the last so many distinct
/// ones, and before them to an entry. Where that is too far back, a session begins early. Frames in
/// a GPU's memory are too dear to be kept: there a session with a margin sees the stream from its
/// start.
/// @param wanted  rising, without overlap
[[nodiscard]] std::unique_ptr<Denoiser> by_parts(std::unique_ptr<Denoiser> session,
                                                 SessionOpener reopen,
                                                 const std::vector<FrameSpan>& wanted,
                                                 Surroundings surroundings = {});

}  // namespace lull::pipeline
