#pragma once
// The cuda backend, as open() sees it. Builds without CUDA have it too; there it throws.

#include <memory>
#include <memory_resource>

#include "bm3d/params.h"
#include "core/denoiser.h"

namespace lull::bm3d {

/// A session on GPU `device` with `streams` frames in flight. `params` and `format` are valid.
/// `results_on_device`: as of Backend.
/// @throws DeviceUnavailable
[[nodiscard]] std::unique_ptr<Denoiser> open_cuda(const Params& params, const FrameFormat& format,
                                                  int device, int streams,
                                                  bool results_on_device = false);

/// Page-locked memory. @throws DeviceUnavailable
[[nodiscard]] std::pmr::memory_resource* cuda_frame_memory();

}  // namespace lull::bm3d
