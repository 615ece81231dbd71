#pragma once
// The opponent colour space, in which lull denoises RGB pictures (Dabov et al. 2007, "Color image
// denoising via sparse 3D collaborative filtering with grouping constraint in luminance-chrominance
// space", ICIP, doi:10.1109/ICIP.2007.4378954).

#include <array>

#include "core/image.h"

namespace lull {

/// The rows of this matrix compute Y, U and V from R, G and B: Y = (R + G + B) / 3, U = (R - B) /
/// sqrt(2) and V = (R - 2 * G + B) / sqrt(6). The rows are orthogonal. U and V have the noise level
/// of R, G and B.
inline constexpr float opponent_forward[3][3] = {{1 / 3.0f, 1 / 3.0f, 1 / 3.0f},
                                                 {0.70710678f, 0.0f, -0.70710678f},
                                                 {0.40824829f, -0.81649658f, 0.40824829f}};
/// The rows of this matrix compute R, G, B from Y, U, V.
inline constexpr float opponent_inverse[3][3] = {{1.0f, 0.70710678f, 0.40824829f},
                                                 {1.0f, 0.0f, -0.81649658f},
                                                 {1.0f, -0.70710678f, 0.40824829f}};

/// Returns the standard deviation of the noise in Y, U and V if the noise of R, G and B is
/// independent.
[[nodiscard]] std::array<float, 3> opponent_sigma(const std::array<float, 3>& rgb_sigma);

/// Returns the sigma with which lull filters Y, U and V if the noise of R, G and B is independent.
/// If the sigma of R, G and B is above 10, the sigma of Y is up to 4 % smaller than
/// opponent_sigma(), because clipping to 0..255 weakens the noise (docs/measurements/colour.md).
[[nodiscard]] std::array<float, 3> opponent_filter_sigma(const std::array<float, 3>& rgb_sigma);

/// Multiplies the samples of three planes of equal size by `matrix` at each position, in place.
void apply_colour_matrix(const float (&matrix)[3][3],
                         const std::array<PlaneView<float>, 3>& planes);

}  // namespace lull
