#pragma once
// The interface of the cuda backend for open(). It exists in builds without CUDA, too, and throws
// there.

#include <memory>
#include <memory_resource>

#include "bm3d/params.h"
#include "core/denoiser.h"

namespace lull::bm3d {

/// Opens a session on GPU `device` with `streams` frames in flight. `params` and `format` must be
/// valid. `results_on_device`: see Backend.
/// @throws InvalidArgument  kernels cannot address frames of this size (address_range.h)
/// @throws DeviceUnavailable
[[nodiscard]] std::unique_ptr<Denoiser> open_cuda(const Params& params, const FrameFormat& format,
                                                  int device, int streams,
                                                  bool results_on_device = false,
                                                  const ResultSamples& results = {});

/// Returns a resource of page-locked memory.
/// @throws DeviceUnavailable
[[nodiscard]] std::pmr::memory_resource* cuda_frame_memory();

}  // namespace lull::bm3d
