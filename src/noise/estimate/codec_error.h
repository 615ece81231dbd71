#pragma once
// The error of a lossy codec, treated as noise. Frame differences do not show this error, so its
// variance is computed from the quantisation step.

#include <array>

#include "core/frame.h"
#include "noise/estimate/estimate.h"

namespace lull {

/// Adds the error of a lossy codec to the noise that filters remove; the measured levels do not
/// change. Without measured noise, fine quantisation adds nothing. RGB, single pictures and steps
/// of 0 get no error.
/// @param steps  mean quantisation step of each plane, on the 0..255 scale; 0: unknown, or lossless
void add_codec_error(const std::array<float, 3>& steps, Layout layout, NoiseEstimate& estimate);

}  // namespace lull
