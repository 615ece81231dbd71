#pragma once
// The noise of a plane as the variances of the coefficients of 8x8 patches, which is what can be
// measured in pictures, and as level and autocorrelation, which is what filters are told.

#include <array>

#include "noise/noise_model.h"

namespace lull {

/// Variances of the noise in the coefficients of the orthonormal 8x8 DCT, row by row (v, u), in
/// squared levels of the 0..255 scale. White noise: sigma^2 everywhere.
using CoefficientTable = std::array<float, 64>;

/// Level and autocorrelation of noise with this table, if its autocorrelation is the same at (dx,
/// dy) and (-dx, dy): then the 64 variances determine that of 8x8 lags. A table that no noise has,
/// as measured ones may be, gets the autocorrelation of noise whose table is like it: one with no
/// negative power at any frequency. The level is always that of the table's mean. White noise, to
/// within a thousandth, has no autocorrelation.
[[nodiscard]] PlaneNoise noise_of(const CoefficientTable& variances);

/// The table of noise, whatever its autocorrelation.
[[nodiscard]] CoefficientTable table_of(const PlaneNoise& noise);

}  // namespace lull
