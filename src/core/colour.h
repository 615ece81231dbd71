#pragma once
// The opponent colour space, in which RGB pictures are denoised (Dabov et al. 2007, "Color image
// denoising via sparse 3D collaborative filtering with grouping constraint in
// luminance-chrominance space", ICIP, doi:10.1109/ICIP.2007.4378954).

#include <array>

#include "core/image.h"

namespace lull {

/// Rows give Y, U, V from R, G, B: the mean, (R - B) / sqrt(2) and (R - 2 G + B) / sqrt(6). Y keeps
/// the scale of a grey picture; U and V keep the level of noise. The rows are orthogonal.
inline constexpr float opponent_forward[3][3] = {{1 / 3.0f, 1 / 3.0f, 1 / 3.0f},
                                                 {0.70710678f, 0.0f, -0.70710678f},
                                                 {0.40824829f, -0.81649658f, 0.40824829f}};
/// Rows give R, G, B from Y, U, V.
inline constexpr float opponent_inverse[3][3] = {{1.0f, 0.70710678f, 0.40824829f},
                                                 {1.0f, 0.0f, -0.81649658f},
                                                 {1.0f, -0.70710678f, 0.40824829f}};

/// Standard deviation of the noise in Y, U and V, where that of R, G and B is independent.
[[nodiscard]] std::array<float, 3> opponent_sigma(const std::array<float, 3>& rgb_sigma);

/// The noise that Y, U and V are filtered for, where that of R, G and B is independent: theirs, but
/// for luma's, which is taken for less from a sigma of 10 on, 0.96 of it from 50 on. Files clip
/// noise to 0..255, which so is weaker than said; on Kodak's pictures, 8 bits, that and the guide's
/// weights gain 0.02 dB at sigma 25, 0.12 at 50, and little is lost on smoother ones
/// (docs/measurements/colour.md).
[[nodiscard]] std::array<float, 3> opponent_strength(const std::array<float, 3>& rgb_sigma);

/// planes = matrix * planes, sample by sample. All three have the size of the first.
void mix_planes(const float (&matrix)[3][3], const std::array<PlaneView<float>, 3>& planes);

}  // namespace lull
