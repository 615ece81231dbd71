#pragma once
// The noise of a plane in two forms: as variances of the coefficients of 8x8 patches, which can be
// measured in pictures, and as level and autocorrelation, which the filters take.

#include <array>

#include "noise/noise_model.h"

namespace lull {

/// Variances of the noise in the coefficients of the orthonormal 8x8 DCT, row by row (v, u), in
/// squared levels of the 0..255 scale. For white noise all are sigma^2.
using CoefficientTable = std::array<float, 64>;

/// Returns level and autocorrelation of the noise with this table. The autocorrelation is assumed
/// to be the same at (dx, dy) and (-dx, dy): then the 64 variances determine it at 8x8 lags. A
/// measured table need not be the table of any possible noise. In this case the result has the
/// autocorrelation of noise with a similar table that has no negative power at any frequency. The
/// level always follows from the mean of the table. Noise that is white to within a thousandth gets
/// no autocorrelation.
[[nodiscard]] PlaneNoise noise_of(const CoefficientTable& variances);

/// Returns the table of noise with any autocorrelation.
[[nodiscard]] CoefficientTable table_of(const PlaneNoise& noise);

}  // namespace lull
