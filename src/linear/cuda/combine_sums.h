#pragma once
// The fixed-point units of the sums in combine.cu.

#include "linear/params.h"

namespace lull::linear {

/// Offset that kernels subtract from estimates to keep the sums small.
inline constexpr float mid_level = 127.5f;
/// Fixed-point scale of the sums of weights. Weights are at most the square root of max_group.
inline constexpr int weight_scale = 1 << 15;
/// Thread blocks sum weighted estimates in units of 1 / (weight_scale * block_value_scale). A sum
/// fits in 32 bits: at most 16 groups contribute to it, and each member of a group adds at most one
/// estimate.
inline constexpr float block_value_scale = 1.0f / 128;

}  // namespace lull::linear
