#pragma once
// The fixed-point units of the sums in combine.cu.

#include "linear/params.h"

namespace lull::linear {

/// Offset that kernels subtract from estimates to keep the sums small.
inline constexpr float mid_level = 127.5f;
/// Fixed-point scale of the sums of weights. Weights are at most the square root of max_group.
inline constexpr int weight_scale = 1 << 15;
/// Scale of the sums of estimates of a thread block, in addition to weight_scale. A sum contains at
/// most one estimate of each member of 16 groups.
inline constexpr float block_value_scale = 1.0f / 128;

}  // namespace lull::linear
