#pragma once
// What keeps the phases by Bayes exact in single and half precision, however weak the noise is.

#include <algorithm>

namespace lull::bm3d {

// ---- the inverse of a Gram matrix ----
//
// A group's weights are I - t (G + t I)^-1, where G is its Gram matrix in units of sigma^2. Weak
// noise makes G large: where t is below the rounding errors of G, the sum is no longer positive
// definite, and its inverse is arbitrary. A larger shift s in place of t, in the inverse alone,
// gives I - t (G + s I)^-1: eigenvalues from 1 - t / s to 1, so that a group whose noise cannot be
// told from rounding errors is preserved.

/// Least shift of the diagonal, in units of the largest element there. It exceeds t for patches of
/// 100 levels' contrast (root mean square) below a sigma of 0.3 in the first of the profile's
/// phases by Bayes, below 1 in the second. An eighth of it is too little for some groups.
inline constexpr float min_float_shift = 1.0f / (1 << 15);
/// The same on tensor cores, which know about 21 bits of a product of floats.
inline constexpr float min_tensor_shift = 1.0f / (1 << 14);

// ---- samples in half precision ----

/// Magnitude of a difference between two samples of a plane, on the 0..255 scale, which halves must
/// hold: colour differences of float samples are up to 416 either way (core/float_range.h).
inline constexpr float max_sample_difference = 1023;
/// Samples enter as differences from a level in this unit at least: halves end at 65504.
inline constexpr float min_half_unit = 1.0f / 64;
static_assert(max_sample_difference / min_half_unit <= 65504);
/// A weaker noise is filtered as noise of this sigma, so that 1 / threshold stays finite.
inline constexpr float min_half_sigma = 1e-6f;

/// How samples enter the filter, and what its threshold becomes in that unit.
struct HalfScale {
  float unit = 1;       // of samples, on the 0..255 scale
  float threshold = 1;  // BayesParams::threshold, in units of unit^2 instead of sigma^2
};
/// The unit is sigma, as long as halves hold all differences in units of sigma.
constexpr HalfScale half_scale(float sigma, float threshold) {
  const float unit = std::max(sigma, min_half_unit);
  const float ratio = std::max(sigma, min_half_sigma) / unit;
  return {unit, threshold * ratio * ratio};
}

}  // namespace lull::bm3d
