#pragma once
// The fixed-point units of the sums of combine.cu.

#include "linear/params.h"

namespace lull::linear {

/// This level is subtracted from values before they are added, so that sums stay small.
inline constexpr float mid_level = 127.5f;
/// Weights are at most the square root of max_group. They are summed in units of 1 / weight_scale.
inline constexpr int weight_scale = 1 << 15;
/// Sums of a thread block are in units of 1 / (weight_scale * block_value_scale). A sum contains at
/// most one estimate of each member of 16 groups.
inline constexpr float block_value_scale = 1.0f / 128;

}  // namespace lull::linear
