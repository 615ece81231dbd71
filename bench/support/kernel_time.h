#pragma once
// What the kernels alone take, to stand beside the time of the whole way.

#include "bm3d/params.h"
#include "core/frame.h"

namespace lull::bench {

/// ms of GPU `device` for all kernels of one frame, both phases, without copies and conversion of
/// samples: the median over about a third of a second. 0 in a build without CUDA.
[[nodiscard]] double kernels_ms(const bm3d::Params& params, const Frame& noisy, int device);

}  // namespace lull::bench
