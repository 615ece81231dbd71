#pragma once
// The coding error of a lossy codec (its quantisation error). Filters treat the coding error as
// noise. lull computes the coding error from the quantisation step, because the differences between
// frames do not reveal it.

#include <array>

#include "core/frame.h"
#include "noise/estimate/estimate.h"

namespace lull {

/// Adds the coding error to the noise that filters remove. Estimates for RGB and for single
/// pictures do not change. Without measured noise, the function ignores the coding error of fine
/// quantisation.
/// @param steps  mean quantisation step of each plane, on the 0..255 scale; 0: unknown, or lossless
void add_codec_error(const std::array<float, 3>& steps, Layout layout, NoiseEstimate& estimate);

/// Adds white noise to the noise that filters remove. `error` contains the standard deviation of
/// this white noise in each plane, on the 0..255 scale. The function also stores `error` in
/// NoiseEstimate::codec_error.
void add_white_error(const std::array<float, 3>& error, NoiseEstimate& estimate);

}  // namespace lull
