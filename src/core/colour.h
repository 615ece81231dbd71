#pragma once
// The opponent colour space, in which RGB pictures are denoised (Dabov et al. 2007, "Color image
// denoising via sparse 3D collaborative filtering with grouping constraint in luminance-chrominance
// space", ICIP, doi:10.1109/ICIP.2007.4378954).

#include <array>

#include "core/image.h"

namespace lull {

/// The rows of this matrix compute Y, U and V from R, G and B. Y is the mean, U is (R - B) /
/// sqrt(2), and V is (R - 2 G + B) / sqrt(6). Y has the scale of a grey picture. U and V have the
/// noise level of the channels. The rows are orthogonal.
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

/// Returns the sigma with which Y, U and V are filtered, if the noise of R, G and B is independent.
/// For U and V, the result is that of opponent_sigma(). For Y, the result is smaller than that of
/// opponent_sigma() if the RGB sigma is above 10, down to 0.96 times opponent_sigma() at an RGB
/// sigma of 50 and above. The reason is that files clip samples to 0..255, which makes the noise
/// weaker than its nominal level. On the Kodak pictures (8 bits), the reduction and the weights of
/// the guide together gain 0.02 dB at sigma 25 and 0.12 dB at sigma 50. Smoother pictures lose
/// little (docs/measurements/colour.md).
[[nodiscard]] std::array<float, 3> opponent_filter_sigma(const std::array<float, 3>& rgb_sigma);

/// Multiplies the vector of the three samples at each position by `matrix`, in place. All three
/// planes must have the same size.
void apply_colour_matrix(const float (&matrix)[3][3],
                         const std::array<PlaneView<float>, 3>& planes);

}  // namespace lull
