#pragma once
// Processes hand-held bursts: aligns the frames of a burst to the reference frame, so that a filter
// over time finds the same content at the same position in all frames.

#include <cstdint>
#include <memory>

#include "core/denoiser.h"

namespace lull::burst {

/// Returns a session that aligns frames and passes them to `denoiser`. The session aligns the
/// frames that are at most `around` frames before or after the reference frame `keep` (counted from
/// 0): it translates, rotates and scales them by their alignment (alignment.h). All other frames
/// are not changed. Frames must be in host memory. The session stores the last `around` frames
/// before the reference frame until the reference frame arrives. Float samples that are not finite
/// count as 0.
/// @param main_plane  the plane of `format` that determines the alignment
[[nodiscard]] std::unique_ptr<Denoiser> aligned(std::unique_ptr<Denoiser> denoiser,
                                                const FrameFormat& format, int main_plane,
                                                std::int64_t keep, int around);

}  // namespace lull::burst
