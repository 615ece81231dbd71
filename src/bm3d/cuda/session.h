#pragma once
// The interface of the `cuda` backend for open(). Without CUDA, these functions throw
// DeviceUnavailable.

#include <memory>
#include <memory_resource>

#include "bm3d/params.h"
#include "core/denoiser.h"

namespace lull::bm3d {

/// Opens a session on GPU `device` with `streams` frames in flight. `params` and `format` must be
/// valid. If `results_on_device` is true, results remain in GPU memory (Backend).
/// @throws InvalidArgument  kernels cannot address frames of this size (address_range.h)
/// @throws DeviceUnavailable
[[nodiscard]] std::unique_ptr<Denoiser> open_cuda(const Params& params, const FrameFormat& format,
                                                  int device, int streams,
                                                  bool results_on_device = false,
                                                  const ResultSamples& results = {});

/// Returns a memory resource of page-locked memory, for frames of sessions on GPU `device`.
/// @throws DeviceUnavailable
[[nodiscard]] std::pmr::memory_resource* cuda_frame_memory(int device);

}  // namespace lull::bm3d
