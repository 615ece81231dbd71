#pragma once
// Sessions of the host backends that filter no plane.

#include <memory>

#include "core/denoiser.h"
#include "core/frame.h"

namespace lull::bm3d {

/// @throws InvalidArgument  the frame is in the memory of a GPU
void refuse_device_memory(const Frame& frame);

/// Opens a session that returns its frames unfiltered, with the samples of results.
[[nodiscard]] std::unique_ptr<Denoiser> open_pass_through(const FrameFormat& format,
                                                          const ResultSamples& results);

}  // namespace lull::bm3d
