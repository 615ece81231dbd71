#pragma once
// The opponent colour space, in which RGB pictures are denoised (Dabov et al. 2007, "Color image
// denoising via sparse 3D collaborative filtering with grouping constraint in
// luminance-chrominance space", ICIP, doi:10.1109/ICIP.2007.4378954).

#include <array>

#include "core/image.h"

namespace lull::bm3d {

/// Rows give Y, U, V from R, G, B. Y is the mean, so that distances measured in it keep the scale
/// of grey pictures; the rows are orthogonal.
inline constexpr float opponent_forward[3][3] = {
    {1 / 3.0f, 1 / 3.0f, 1 / 3.0f}, {0.5f, 0.0f, -0.5f}, {0.25f, -0.5f, 0.25f}};
/// Rows give R, G, B from Y, U, V.
inline constexpr float opponent_inverse[3][3] = {
    {1.0f, 1.0f, 2 / 3.0f}, {1.0f, 0.0f, -4 / 3.0f}, {1.0f, -1.0f, 2 / 3.0f}};

/// Standard deviation of the noise in Y, U and V, where that of R, G and B is independent.
[[nodiscard]] std::array<float, 3> opponent_sigma(const std::array<float, 3>& rgb_sigma);

/// planes = matrix * planes, sample by sample. All three have the size of the first.
void mix_planes(const float (&matrix)[3][3], const std::array<PlaneView<float>, 3>& planes);

}  // namespace lull::bm3d
