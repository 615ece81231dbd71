#pragma once
// Sessions that filter no plane, for the host backends. Such a session returns each frame
// unfiltered.

#include <memory>

#include "core/denoiser.h"
#include "core/frame.h"

namespace lull::bm3d {

/// Refuses frames in GPU memory, because the host backends cannot read them.
/// @throws InvalidArgument  the frame is in GPU memory
void refuse_device_memory(const Frame& frame);

/// Opens a session that returns its frames unfiltered, in the sample format that `results`
/// requests.
[[nodiscard]] std::unique_ptr<Denoiser> open_pass_through(const FrameFormat& format,
                                                          const ResultSamples& results);

}  // namespace lull::bm3d
