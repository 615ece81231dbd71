#pragma once
// Numerical limits that make single and half precision accurate enough for the Bayes phases, even
// if the noise is very weak.

#include <algorithm>

namespace lull::bm3d {

// ---- the inverse of a Gram matrix ----
//
// The filter combines the patches of a group with the weights I - t (G + t I)^-1, where I is the
// identity matrix, G the Gram matrix of the group in units of sigma^2, and t the threshold of the
// filter. Weak noise makes G large. If t is below the rounding errors of G, the computed matrix G +
// t I is not positive definite, and its inverse is arbitrary. Therefore the filter computes the
// weights I - t (G + s I)^-1 with a larger shift s. The eigenvalues of these weights are between 1
// - t / s and 1, so the filter preserves such a group.

/// Minimum of the shift s, in units of the largest diagonal element of the Gram matrix G. Example:
/// if the samples of a group differ from their mean by 100 levels (root mean square), the minimum
/// exceeds the threshold t with sigma below 0.3 in the first Bayes phase of the profile `best`, and
/// with sigma below 1 in the second.
inline constexpr float min_float_shift = 1.0f / (1 << 15);
/// Minimum of the shift s on tensor cores, in the same unit. It is larger because tensor cores
/// compute products of floats with only about 21 significant bits.
inline constexpr float min_tensor_shift = 1.0f / (1 << 14);

// ---- samples in half precision ----

/// Maximum difference between two samples of a plane, on the 0..255 scale, that half precision must
/// represent. It includes the chroma samples of RGB frames of floats, which range from -416 to 416
/// (core/float_range.h).
inline constexpr float max_sample_difference = 1023;
/// Minimum of HalfScale::unit, on the 0..255 scale. It limits the quotient of a sample difference
/// and HalfScale::unit to 65504, the largest half-precision number.
inline constexpr float min_half_unit = 1.0f / 64;
static_assert(max_sample_difference / min_half_unit <= 65504);
/// Minimum sigma of half_scale(), on the 0..255 scale, so that 1 / threshold is finite.
inline constexpr float min_half_sigma = 1e-6f;

/// The scale on which kernels store samples in half precision, and the threshold of the filter on
/// this scale. Each thread block subtracts one sample value from all its samples, and divides the
/// differences by `unit`.
struct HalfScale {
  float unit = 1;       // divisor of sample differences, on the 0..255 scale
  float threshold = 1;  // BayesParams::threshold, in units of unit^2 instead of sigma^2
};
/// Returns the unit and the threshold for noise with the standard deviation `sigma`. The unit is
/// sigma, or min_half_unit if sigma is smaller.
constexpr HalfScale half_scale(float sigma, float threshold) {
  const float unit = std::max(sigma, min_half_unit);
  const float ratio = std::max(sigma, min_half_sigma) / unit;
  return {unit, threshold * ratio * ratio};
}

}  // namespace lull::bm3d
