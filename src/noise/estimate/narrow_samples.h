#pragma once
// Pictures and clips of 16-bit samples that use only a part of the range. Scientific cameras of 10
// to 14 bits write such files. On the 0..255 scale of 16 bits, their noise would be too weak to be
// measured.

#include <span>
#include <vector>

#include "noise/estimate/estimate.h"

namespace lull {

/// Returns the smallest number of bits (8 to 14) that all samples fit in. Returns 0 if the samples
/// need more bits, if no sample is above 0, or if the frames are not grey or RGB frames of 16 bits.
[[nodiscard]] int used_bits(std::span<const Excerpt> excerpts);

/// Returns the same frames in a format with `bits` bits. The frames share their samples with
/// `excerpts`.
[[nodiscard]] std::vector<Excerpt> with_bits(std::span<const Excerpt> excerpts, int bits);

/// Converts an estimate of with_bits() to the 0..255 scale of 16 bits. Each noise curve becomes its
/// level, because a curve has too few knots in the used part of the range.
[[nodiscard]] NoiseEstimate at_16_bits(NoiseEstimate estimate, int bits);

}  // namespace lull
