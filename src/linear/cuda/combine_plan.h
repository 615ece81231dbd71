#pragma once
// Divides the reference patches into thread blocks for combine.cu. This file is independent of
// CUDA.

#include <algorithm>
#include <array>
#include <cstddef>

#include "core/error.h"
#include "cuda/device_limits.h"
#include "linear/params.h"

namespace lull::linear {

/// The number of reference patches and the shared memory of a thread block.
struct CombinePlan {
  int across = 0, down = 0;  // number of reference patches along x and y
  int pitch = 0, rows = 0;   // union of their search windows, in samples
  int warps = 0;
  std::size_t bytes = 0;  // dynamic shared memory in bytes
};

/// Maximum number of reference patches of a thread block. The fixed-point unit of its sums depends
/// on this maximum (combine_sums.h).
inline constexpr int max_block_references = 16;
inline constexpr int max_combine_warps = 8;

/// Returns the plan with the most reference patches per thread block that fit into shared memory. A
/// thread block needs `fixed` bytes, and `per_sample` bytes for each sample of the search windows.
/// @throws InternalError  the search window of one reference patch does not fit
[[nodiscard]] inline CombinePlan plan_combine(const GroupSizes& sizes, std::size_t fixed,
                                              std::size_t per_sample,
                                              const cuda::DeviceLimits& limits) {
  constexpr std::array<std::array<int, 2>, 5> shapes{{{4, 4}, {4, 2}, {2, 2}, {2, 1}, {1, 1}}};
  static_assert(shapes[0][0] * shapes[0][1] == max_block_references);
  for (const auto [across, down] : shapes) {
    CombinePlan plan{.across = across, .down = down};
    // The pitch has one additional word, because the word for each sample also contains the right
    // neighbour of the sample.
    plan.pitch = (across - 1) * sizes.step + sizes.window + sizes.side;
    plan.rows = (down - 1) * sizes.step + sizes.window + sizes.side - 1;
    plan.bytes = fixed + per_sample * static_cast<std::size_t>(plan.pitch) * plan.rows;
    if (plan.bytes > limits.dynamic_limit()) continue;
    // A multiprocessor has registers for 16 warps: two thread blocks of 8 warps, or four of 4
    // warps. Thread blocks of 4 warps balance the load better, but only if at least three fit into
    // shared memory.
    plan.warps =
        std::min(limits.blocks(32 * max_combine_warps / 2, plan.bytes) >= 3 ? max_combine_warps / 2
                                                                            : max_combine_warps,
                 across * down);
    return plan;
  }
  throw InternalError("a search window that exceeds the GPU's shared memory; report it");
}

}  // namespace lull::linear
