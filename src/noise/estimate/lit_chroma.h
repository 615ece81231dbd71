#pragma once
// The noise of chroma outside the dark areas of a clip.

// Cameras clip the noise of R, G and B at black, so chroma has less noise in dark areas than
// elsewhere. In clips with large dark areas, most blocks are dark. They would determine a noise
// level that is too low for the rest of the picture.

#include <optional>
#include <span>

#include "noise/coefficient_table.h"
#include "noise/estimate/clip_blocks.h"

namespace lull {

/// Returns the noise variances of a chroma plane of one excerpt in the blocks outside dark areas.
/// Returns std::nullopt if dark areas are small, or if too few blocks lie outside dark areas.
[[nodiscard]] std::optional<CoefficientTable> lit_variances_of(
    std::span<const ClipDifference> blocks);

}  // namespace lull
