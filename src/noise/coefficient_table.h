#pragma once
// Converts between two descriptions of the noise of a plane: the variances of the coefficients of
// 8x8 patches, which can be measured in pictures, and the level and autocorrelation, which filters
// use.

#include <array>

#include "noise/noise_model.h"

namespace lull {

/// Variances of the noise in the coefficients of the orthonormal 8x8 DCT, row by row (v, u), in
/// squared levels of the 0..255 scale. For white noise, all variances are sigma^2.
using CoefficientTable = std::array<float, 64>;

/// Returns the level and the autocorrelation of noise with these coefficient variances. The
/// autocorrelation is assumed to be the same at (dx, dy) and (-dx, dy). If measurement errors make
/// the power spectrum negative at some frequencies, the function uses the most similar table with a
/// non-negative spectrum. If the noise is white to within a thousandth, the result has no
/// autocorrelation.
[[nodiscard]] PlaneNoise noise_of(const CoefficientTable& variances);

/// Returns the coefficient variances of noise with any autocorrelation.
[[nodiscard]] CoefficientTable table_of(const PlaneNoise& noise);

}  // namespace lull
