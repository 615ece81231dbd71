#pragma once
// Aligns the frames of a hand-held burst to the reference frame, so that temporal filtering finds
// the same content at the same position in all frames.

#include <cstdint>
#include <memory>

#include "core/denoiser.h"

namespace lull::burst {

/// Returns a session that aligns frames in host memory and passes them to `denoiser`. The session
/// warps the frames that are at most `around` frames before or after the reference frame `keep`.
/// Other frames remain unchanged.
/// @param main_plane  the plane of `format` that determines the alignment
/// @param keep  number of the reference frame, counted from 0
[[nodiscard]] std::unique_ptr<Denoiser> aligned(std::unique_ptr<Denoiser> denoiser,
                                                const FrameFormat& format, int main_plane,
                                                std::int64_t keep, int around);

}  // namespace lull::burst
