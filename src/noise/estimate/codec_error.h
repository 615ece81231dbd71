#pragma once
// The error of a lossy codec, treated as noise, and computed from the quantisation step, because
// frame differences do not show it.

#include <array>

#include "core/frame.h"
#include "noise/estimate/estimate.h"

namespace lull {

/// Adds the error of a lossy codec to the noise that filters remove. RGB and single pictures are
/// not changed. Without measured noise, fine quantisation is ignored, too.
/// @param steps  mean quantisation step of each plane, on the 0..255 scale; 0: unknown, or lossless
void add_codec_error(const std::array<float, 3>& steps, Layout layout, NoiseEstimate& estimate);

}  // namespace lull
