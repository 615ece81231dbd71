#pragma once
// The noise of chroma outside the dark areas of a clip.

// Cameras clip the noise of R, G and B at black, so chroma has less noise in dark areas than
// elsewhere. In clips with large dark areas, most blocks are dark. They would determine a noise
// level that is too low for the rest of the picture.

#include <optional>
#include <span>
#include <vector>

#include "noise/coefficient_table.h"
#include "noise/estimate/clip_blocks.h"

namespace lull {

/// Returns the share of dark blocks, 0..1.
[[nodiscard]] double dark_share_of(std::span<const ClipDifference> blocks);

/// The noise outside the dark areas of one plane of one excerpt, and the blocks in which it was
/// measured.
struct LitNoise {
  CoefficientTable variances{};
  std::vector<ClipDifference> blocks;
};

/// Measures the noise of a plane of one excerpt in the blocks outside dark areas. Returns
/// std::nullopt if too few blocks lie outside dark areas.
[[nodiscard]] std::optional<LitNoise> measure_lit(std::span<const ClipDifference> blocks);

}  // namespace lull
