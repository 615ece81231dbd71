#pragma once
// Converts between two descriptions of the noise of a plane. The variances of the coefficients of
// 8x8 patches can be measured in pictures. Filters use the level and the autocorrelation.

#include <array>

#include "noise/noise_model.h"

namespace lull {

/// Variances of the noise in the coefficients of the orthonormal 8x8 DCT, row by row (v, u), on the
/// 0..255 scale. For white noise, all variances are sigma^2.
using CoefficientTable = std::array<float, 64>;

/// Converts coefficient variances to the level and the autocorrelation of the noise. The function
/// assumes that the autocorrelation is the same at (dx, dy) and (-dx, dy). If measurement errors
/// make the power spectrum negative at some frequencies, the function uses the most similar table
/// with a non-negative spectrum. If the noise is white to within a thousandth, the result has no
/// autocorrelation.
[[nodiscard]] PlaneNoise noise_of(const CoefficientTable& variances);

/// Returns the variances of the DCT coefficients of `noise`, white or coloured.
[[nodiscard]] CoefficientTable table_of(const PlaneNoise& noise);

}  // namespace lull
