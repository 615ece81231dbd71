#pragma once
// The error of a lossy codec as noise. A codec removes noise and texture whose coefficients are
// below its quantisation step. Differences between frames do not show this error, so its variance
// is computed from the quantisation step.

#include <array>

#include "core/frame.h"
#include "noise/estimate/estimate.h"

namespace lull {

/// Adds the error of a lossy codec to the noise that filters remove. Measured levels do not change.
/// If no noise was found, the function adds nothing for fine quantisation. It does nothing for RGB,
/// for estimates from single pictures, and for steps of 0.
/// @param steps  mean quantisation step of each plane, on the 0..255 scale; 0: unknown, or lossless
void add_codec_error(const std::array<float, 3>& steps, Layout layout, NoiseEstimate& estimate);

}  // namespace lull
