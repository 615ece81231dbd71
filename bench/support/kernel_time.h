#pragma once
// Measures the time of the kernels alone, for comparison with the time from host memory to host
// memory.

#include "bm3d/params.h"
#include "core/frame.h"

namespace lull::bench {

/// Returns the time in ms of all kernels of both phases for one frame on GPU `device`, without
/// copies and sample conversion. The result is the median over about a third of a second, or 0 in a
/// build without CUDA.
[[nodiscard]] double kernels_ms(const bm3d::Params& params, const Frame& noisy, int device);

}  // namespace lull::bench
