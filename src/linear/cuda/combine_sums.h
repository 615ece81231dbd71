#pragma once
// The fixed-point units of the sums in combine.cu.

#include "linear/params.h"

namespace lull::linear {

/// Sample value that kernels subtract from estimates before they add the estimates, so that sums
/// are small.
inline constexpr float mid_level = 127.5f;
/// Sums of weights are in units of 1 / weight_scale. Weights are at most the square root of
/// max_group.
inline constexpr int weight_scale = 1 << 15;
/// Sums of estimates of a thread block are in units of 1 / (weight_scale * block_value_scale). A
/// sum contains at most one estimate of each member of 16 groups.
inline constexpr float block_value_scale = 1.0f / 128;

}  // namespace lull::linear
