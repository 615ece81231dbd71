#pragma once
// Estimates noise variances from the motion-compensated differences of blocks.

// select_blocks() selects blocks with well-compensated motion and small slopes (gradients of the
// samples). The function measures motion and slopes in the samples around a block. Measurements in
// the block itself would favour blocks that a codec copied from the previous frame, which contain
// no new noise.

#include <optional>
#include <span>
#include <vector>

#include "noise/coefficient_table.h"
#include "noise/estimate/clip_blocks.h"

namespace lull {

/// Returns the blocks of one plane of one excerpt that are suitable for noise measurement: blocks
/// with small slopes and well-compensated motion.
[[nodiscard]] std::vector<ClipDifference> select_blocks(std::vector<ClipDifference> blocks);

/// Contributions of the stored channels to the noise of a plane.
struct ChannelShares {
  // The noise variance of each channel, in units of the plane's variance.
  std::array<float, 3> variance{1, 0, 0};
  // The share of each channel in the plane's noise variance. The sum is 1.
  std::array<float, 3> weight{1, 0, 0};
};

/// Returns the noise variances before clipping, or std::nullopt for fewer than 30 blocks. Sets
/// ClipDifference::retained of each block.
[[nodiscard]] std::optional<CoefficientTable> variances_of(std::span<ClipDifference> blocks,
                                                           const ChannelShares& shares = {});
/// Returns the noise variances as measured in the clipped samples. The function does not correct
/// them for clipping.
[[nodiscard]] std::optional<CoefficientTable> clipped_variances_of(
    std::span<const ClipDifference> blocks);

/// Returns the mean of all variances except coefficient (0, 0).
[[nodiscard]] float mean_variance(const CoefficientTable& variances);

/// Returns the median, or the mean of the two middle values. `values` is not empty.
[[nodiscard]] float median_of(std::vector<float> values);

}  // namespace lull
