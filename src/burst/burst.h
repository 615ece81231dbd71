#pragma once
// A burst taken by hand: its frames are laid onto the one that is kept, so that a filter over time
// finds the same thing at the same place in all of them.

#include <cstdint>
#include <memory>

#include "core/denoiser.h"

namespace lull::burst {

/// A session that gets the frames before and after frame `keep`, counted from 0, as that one sees
/// them: moved, turned and made larger or smaller by alignment.h, up to `around` frames away; all
/// others as they are. Frames are in the host's memory, and those up to `around` before the kept
/// one wait for it. Float samples that are no numbers count as 0.
/// @param main_plane  of `format`: the one that frames are aligned by
[[nodiscard]] std::unique_ptr<Denoiser> aligned(std::unique_ptr<Denoiser> denoiser,
                                                const FrameFormat& format, int main_plane,
                                                std::int64_t keep, int around);

}  // namespace lull::burst
