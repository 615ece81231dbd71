#pragma once
// From differences of blocks to the variances of the noise: which blocks count, and what they say.

#include <optional>
#include <span>
#include <vector>

#include "noise/coefficient_table.h"
#include "noise/estimate/clip_blocks.h"

namespace lull {

/// Those of the blocks of one plane of one look by which noise can be judged. Neither what differs
/// in a block nor how quiet it is decides: blocks are chosen by the picture's slopes and, against
/// motion that was not followed, by what differs around them, from which noise in the block is
/// independent. A codec leaves out the noise of what it copies, so that the quietest blocks would
/// say too little.
[[nodiscard]] std::vector<ClipDifference> judgeable(std::vector<ClipDifference> blocks);

/// What channels of the file have to do with the noise of a plane that is made of them.
struct ChannelShares {
  std::array<float, 3> variance{1, 0, 0};  // of the noise of each, in units of the plane's
  std::array<float, 3> weight{1, 0, 0};    // their part of the plane's; 1 in all
};

/// Variances from blocks that judgeable() left, as they were before noise was clipped; nothing from
/// fewer than 30. Says of each block what clipping left there (ClipDifference::left).
[[nodiscard]] std::optional<CoefficientTable> variances_of(std::span<ClipDifference> blocks,
                                                           const ChannelShares& shares = {});
/// The same without regard to what is clipped.
[[nodiscard]] std::optional<CoefficientTable> clipped_variances_of(
    std::span<const ClipDifference> blocks);

/// The mean of all variances but that of the mean.
[[nodiscard]] float mean_variance(const CoefficientTable& variances);

}  // namespace lull
