#pragma once
// The noise of a plane in two representations: as variances of the coefficients of 8x8 patches,
// which can be measured in pictures, and as level and autocorrelation, which are the inputs of the
// filters.

#include <array>

#include "noise/noise_model.h"

namespace lull {

/// Variances of the noise in the coefficients of the orthonormal 8x8 DCT, row by row (v, u), in
/// squared levels of the 0..255 scale. For white noise, all variances are sigma^2.
using CoefficientTable = std::array<float, 64>;

/// Returns the level and the autocorrelation of the noise with this table of variances. The
/// autocorrelation is assumed to be the same at (dx, dy) and (-dx, dy): then the 64 variances
/// determine the autocorrelation at 8x8 lags. Errors of measurement can give a table that no noise
/// can have. In this case, the function uses a similar table for which the power is not negative at
/// any frequency. The level always follows from the mean of the table. If the noise is white to
/// within a thousandth, the result has no autocorrelation.
[[nodiscard]] PlaneNoise noise_of(const CoefficientTable& variances);

/// Returns the coefficient variances of noise with any autocorrelation.
[[nodiscard]] CoefficientTable table_of(const PlaneNoise& noise);

}  // namespace lull
