#pragma once
// Kernels for the variance stabilisation of slices and its inverse.

#include <cuda_runtime_api.h>

#include <cstddef>

#include "core/frame.h"
#include "noise/volume/sample_vst.h"

namespace lull::cuda {

using SliceBytes = PlaneView<const std::byte>;  // width and stride in bytes

/// Queues the variance stabilisation of the slice `noisy` on `stream`. `level` contains the noise
/// level of each sample. If `level` is null, the noise level is `samples.sigma` everywhere. The
/// table of `samples` must be in device memory.
void stabilise_slice(SliceBytes noisy, const FrameFormat& format, const SampleVst& samples,
                     const float* level, PlaneView<std::byte> stabilised, cudaStream_t stream);
/// Queues the inverse of the variance stabilisation on `stream`. The kernel converts `filtered` and
/// writes the results to `clean`. If the filter did not change a stabilised sample, the kernel
/// copies the sample from `noisy`.
void invert_slice(SliceBytes noisy, SliceBytes stabilised, SliceBytes filtered,
                  const FrameFormat& format, const SampleVst& samples, const float* level,
                  PlaneView<std::byte> clean, cudaStream_t stream);

}  // namespace lull::cuda
