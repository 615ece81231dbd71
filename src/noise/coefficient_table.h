#pragma once
// Converts noise between two descriptions: the variances of its DCT coefficients, and its level
// with its autocorrelation.

#include <array>

#include "noise/noise_model.h"

namespace lull {

/// Noise variances of the coefficients of the orthonormal 8x8 DCT, [v][u], on the 0..255 scale.
/// White noise has equal variances.
using CoefficientTable = std::array<float, 64>;

/// Converts coefficient variances to the level and the autocorrelation of the noise. The function
/// assumes that the autocorrelation is the same at (dx, dy) and (-dx, dy), and corrects negative
/// values of the power spectrum.
[[nodiscard]] PlaneNoise noise_of(const CoefficientTable& variances);

/// Returns the variances of the DCT coefficients of white or coloured noise.
[[nodiscard]] CoefficientTable table_of(const PlaneNoise& noise);

}  // namespace lull
