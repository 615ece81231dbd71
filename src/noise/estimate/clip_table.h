#pragma once
// Estimates noise variances from differences of blocks: selects blocks and measures the
// coefficients of the differences.

// Neither the difference in a block nor the flatness of a block is a criterion for the selection,
// because codecs copy blocks without their noise. A selection of the flattest blocks would
// underestimate the noise level.

#include <optional>
#include <span>
#include <vector>

#include "noise/coefficient_table.h"
#include "noise/estimate/clip_blocks.h"

namespace lull {

/// Returns the blocks in which noise can be measured, from one plane of one excerpt. The criteria
/// are the slopes of the picture and the ring energy, the difference between the frames in a ring
/// around the block. A high ring energy shows motion that is not compensated.
[[nodiscard]] std::vector<ClipDifference> select_blocks(std::vector<ClipDifference> blocks);

/// Contributions of the stored channels to the noise of a plane that is computed from these
/// channels.
struct ChannelShares {
  // The noise variance of each channel, in units of the plane's variance.
  std::array<float, 3> variance{1, 0, 0};
  // The share of each channel in the plane's noise variance. The sum of the shares is 1.
  std::array<float, 3> weight{1, 0, 0};
};

/// Returns the noise variances before clipping, measured in blocks from select_blocks(). Returns
/// std::nullopt if there are fewer than 30 blocks. Sets ClipDifference::retained of each block.
[[nodiscard]] std::optional<CoefficientTable> variances_of(std::span<ClipDifference> blocks,
                                                           const ChannelShares& shares = {});
/// Returns the noise variances after clipping, without correction.
[[nodiscard]] std::optional<CoefficientTable> clipped_variances_of(
    std::span<const ClipDifference> blocks);

/// Returns the mean of all variances in the table except the variance of coefficient (0, 0).
[[nodiscard]] float mean_variance(const CoefficientTable& variances);

}  // namespace lull
