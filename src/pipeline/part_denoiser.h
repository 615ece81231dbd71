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

/// A denoiser of the frames in `wanted` alone. The others come through in their places, without
/// samples. Each span has a session of its own, one after the other: the first `session`, then what
/// `reopen` gives. A session also sees the `margin` frames before and after its span, which a
/// filter along time needs to give the same results as in the whole stream; spans that are nearer
/// than that share one.
/// @param wanted  rising, without overlap
/// @param margin  frames, from 0
[[nodiscard]] std::unique_ptr<Denoiser> by_parts(std::unique_ptr<Denoiser> session,
                                                 SessionOpener reopen,
                                                 const std::vector<FrameSpan>& wanted, int margin);

}  // namespace lull::pipeline
