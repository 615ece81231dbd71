#pragma once
// Numerical limits that make single and half precision accurate enough for the Bayes phases, even
// if the noise is very weak.

#include <algorithm>

namespace lull::bm3d {

// Limits for the inverse of a Gram matrix. The Bayes filter combines the patches of a group with
// the weights I - t (G + s I)^-1. I is the identity matrix, G the Gram matrix of the group in units
// of sigma^2, t the threshold of the filter, and s >= t a shift.

// Weak noise makes the Gram matrix G large. If the threshold t is below the rounding errors of G,
// the computed matrix G + t I may not be positive definite. The filter then uses a shift s > t,
// with which the eigenvalues of the weights are between 1 - t / s and 1.

/// Minimum of the shift s, in units of the largest diagonal element of the Gram matrix G. For
/// patches of typical contrast, the minimum exceeds the threshold t only if sigma is below 1 on the
/// 0..255 scale.
inline constexpr float min_float_shift = 1.0f / (1 << 15);
/// Minimum of the shift s on tensor cores, in units of the largest diagonal element of the Gram
/// matrix G. Tensor cores compute products of floats with only about 21 significant bits.
inline constexpr float min_tensor_shift = 1.0f / (1 << 14);

// ---- half-precision samples ----

/// Maximum difference between two samples of a plane, on the 0..255 scale. Half precision must
/// represent this difference. The chroma samples of RGB frames of floats range from -416 to 416
/// (core/float_range.h).
inline constexpr float max_sample_difference = 1023;
/// Minimum of HalfScale::unit, on the 0..255 scale. With this minimum, a sample difference divided
/// by HalfScale::unit is at most 65504, the largest half-precision number.
inline constexpr float min_half_unit = 1.0f / 64;
static_assert(max_sample_difference / min_half_unit <= 65504);
/// Minimum standard deviation with which half_scale() computes the threshold, on the 0..255 scale.
/// The minimum keeps 1 / threshold finite.
inline constexpr float min_half_sigma = 1e-6f;

/// The scale of samples in half precision, and the threshold of the filter on this scale. Each
/// thread block subtracts one level from all its samples, and divides the differences by `unit`.
struct HalfScale {
  float unit = 1;       // divisor of sample differences, on the 0..255 scale
  float threshold = 1;  // BayesParams::threshold, in units of unit^2 instead of sigma^2
};
/// Returns the unit of half-precision samples and the threshold of the filter, for noise with the
/// standard deviation `sigma`. The unit is `sigma`, but at least min_half_unit.
constexpr HalfScale half_scale(float sigma, float threshold) {
  const float unit = std::max(sigma, min_half_unit);
  const float ratio = std::max(sigma, min_half_sigma) / unit;
  return {unit, threshold * ratio * ratio};
}

}  // namespace lull::bm3d
