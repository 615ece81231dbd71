#pragma once
// Numerical limits of the Bayes phases. These limits make single and half precision accurate
// enough, even if the noise is very weak.

#include <algorithm>

namespace lull::bm3d {

// ---- the inverse of a Gram matrix ----
//
// The weights with which the patches of a group are combined are I - t (G + t I)^-1, where G is the
// Gram matrix of the group in units of sigma^2, and t is the threshold of the filter. Weak noise
// makes G large. If t is below the rounding errors of G, the computed G + t I is no longer positive
// definite, and its inverse is arbitrary. Therefore the inverse uses a larger shift s:
// I - t (G + s I)^-1. The eigenvalues of this matrix lie between 1 - t / s and 1, so that a group
// whose noise is indistinguishable from rounding errors is preserved.

/// Minimum shift s of the diagonal, in units of its largest element. For patches with a contrast of
/// 100 levels (root mean square), the shift exceeds t if sigma is below 0.3 in the first Bayes
/// phase of the profile `best`, or below 1 in the second. A shift of an eighth of this value is too
/// small for some groups.
inline constexpr float min_float_shift = 1.0f / (1 << 15);
/// Minimum shift s on tensor cores, which compute products of floats with about 21 significant
/// bits.
inline constexpr float min_tensor_shift = 1.0f / (1 << 14);

// ---- samples in half precision ----

/// Maximum difference between two samples of a plane, on the 0..255 scale, that half precision must
/// represent. In RGB frames of floats, samples of chroma range from -416 to 416
/// (core/float_range.h).
inline constexpr float max_sample_difference = 1023;
/// Minimum unit of samples in half precision, on the 0..255 scale. The largest half-precision
/// number is 65504. Therefore samples are stored as differences from a level, in this unit or in a
/// larger one.
inline constexpr float min_half_unit = 1.0f / 64;
static_assert(max_sample_difference / min_half_unit <= 65504);
/// A sigma below this value is replaced by this value, so that 1 / threshold stays finite.
inline constexpr float min_half_sigma = 1e-6f;

/// Unit of samples in half precision, and the threshold of the filter in this unit.
struct HalfScale {
  float unit = 1;       // unit of samples, on the 0..255 scale
  float threshold = 1;  // BayesParams::threshold, in units of unit^2 instead of sigma^2
};
/// Returns the scale for noise of `sigma`. The unit is sigma, or a larger unit if half precision
/// cannot represent all differences in units of sigma.
constexpr HalfScale half_scale(float sigma, float threshold) {
  const float unit = std::max(sigma, min_half_unit);
  const float ratio = std::max(sigma, min_half_sigma) / unit;
  return {unit, threshold * ratio * ratio};
}

}  // namespace lull::bm3d
