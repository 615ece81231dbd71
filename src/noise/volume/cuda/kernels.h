#pragma once
// Slices that are made even, and brought back.

#include <cuda_runtime_api.h>

#include <cstddef>

#include "core/frame.h"
#include "noise/volume/even_samples.h"

namespace lull::cuda {

using SliceBytes = PlaneView<const std::byte>;  // width and stride in bytes

/// Queues on `stream`: of `noisy`, samples of `format`, to floats. `level`: of each sample, row by
/// row; null: it is the sigma of `samples`. Tables of `samples` are on the device.
void make_slice_even(SliceBytes noisy, const FrameFormat& format, const EvenSamples& samples,
                     const float* level, PlaneView<std::byte> even, cudaStream_t stream);
/// The way back, of what a filter made of `even`; what it left as it was becomes as it came.
void bring_slice_back(SliceBytes noisy, SliceBytes even, SliceBytes filtered,
                      const FrameFormat& format, const EvenSamples& samples, const float* level,
                      PlaneView<std::byte> clean, cudaStream_t stream);

}  // namespace lull::cuda
