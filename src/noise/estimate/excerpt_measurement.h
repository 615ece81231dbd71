#pragma once
// The noise measurement of one excerpt of a clip.

#include <array>
#include <optional>
#include <vector>

#include "noise/coefficient_table.h"
#include "noise/estimate/clip_blocks.h"
#include "noise/estimate/clip_table.h"

namespace lull {

/// A table of noise variances for each plane.
using Tables = std::array<std::optional<CoefficientTable>, 3>;

/// All blocks of an excerpt in each plane, the selected blocks, and the noise variances.
struct ExcerptMeasurement {
  std::array<std::vector<ClipDifference>, 3> all, blocks;
  Tables tables;
  std::array<ChannelShares, 3> shares;
};

}  // namespace lull
