#pragma once
// Kernels that stabilise the variance of slices, and kernels that invert the stabilisation.

#include <cuda_runtime_api.h>

#include <cstddef>

#include "core/frame.h"
#include "noise/volume/sample_vst.h"

namespace lull::cuda {

using SliceBytes = PlaneView<const std::byte>;  // width and stride in bytes

/// Queues the variance stabilisation of the slice `noisy` on `stream`. The results are floats.
/// `level` contains the noise level of each sample, row by row. Null: the noise level is
/// `samples.sigma` everywhere. The table of `samples` must be in device memory.
void stabilise_slice(SliceBytes noisy, const FrameFormat& format, const SampleVst& samples,
                     const float* level, PlaneView<std::byte> stabilised, cudaStream_t stream);
/// Queues the inverse of the stabilisation, which converts the filter's result to samples of
/// `clean`. If the filter did not change a sample of `stabilised`, the kernel copies the sample
/// from `noisy`.
void invert_slice(SliceBytes noisy, SliceBytes stabilised, SliceBytes filtered,
                  const FrameFormat& format, const SampleVst& samples, const float* level,
                  PlaneView<std::byte> clean, cudaStream_t stream);

}  // namespace lull::cuda
