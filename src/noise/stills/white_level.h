#pragma once
// Estimates the level of white noise in pictures.

#include <span>

#include "noise/stills/picture_blocks.h"

namespace lull {

/// Estimates the standard deviation of a plane's white noise on the 0..255 scale, corrected for
/// clipping at `bounds`. 0: no block is usable.
[[nodiscard]] float white_level(std::span<const float> values, const PictureBlocks& blocks,
                                const ClipBounds& bounds);

}  // namespace lull
