#pragma once
// The error of a lossy codec, treated as noise. A codec removes noise and texture whose
// coefficients are below its quantisation step. Differences between frames do not show this error.
// The variance of the error is therefore computed from the quantisation step.

#include <array>

#include "core/frame.h"
#include "noise/estimate/estimate.h"

namespace lull {

/// Adds the error of a lossy codec to the noise that filters remove, and does not change the
/// measured levels. If no noise was found, fine quantisation adds nothing. The function does
/// nothing for RGB, for estimates from single pictures, and for steps of 0.
/// @param steps  mean quantisation step of each plane, on the 0..255 scale; 0: unknown, or lossless
void add_codec_error(const std::array<float, 3>& steps, Layout layout, NoiseEstimate& estimate);

}  // namespace lull
