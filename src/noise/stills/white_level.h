#pragma once
// Estimates the level of white noise in pictures.

#include <span>

#include "noise/stills/picture_blocks.h"

namespace lull {

/// Estimates the standard deviation of a plane's noise on the 0..255 scale, under the assumption
/// that the noise is white. The noise is measured at the finest frequencies of blocks whose other
/// coefficients have hardly more energy than the noise. `values` contains the coefficients of the
/// blocks. The result is corrected for clipping at `bounds`. Returns 0 if no block is usable.
[[nodiscard]] float white_level(std::span<const float> values, const PictureBlocks& blocks,
                                const ClipBounds& bounds);

}  // namespace lull
