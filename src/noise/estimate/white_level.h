#pragma once
// The level of white noise in pictures.

#include <span>

#include "noise/estimate/picture_blocks.h"

namespace lull {

/// The standard deviation of a plane's noise, if it is white, on the 0..255 scale: what the finest
/// frequencies hold where the others hold little more than that. `values`: coefficients() of the
/// blocks. Corrected for samples that `bounds` clip. 0 if no block can be asked.
[[nodiscard]] float white_level(std::span<const float> values, const PictureBlocks& blocks,
                                const ClipBounds& bounds);

}  // namespace lull
