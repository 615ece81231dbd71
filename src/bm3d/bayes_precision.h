#pragma once
// Numerical limits that keep the Bayes phases accurate in single and half precision, even for very
// weak noise.

#include <algorithm>

namespace lull::bm3d {

// The weights of a group are I - t (G + s I)^-1, with the Gram matrix G in units of sigma^2, the
// threshold t and a diagonal loading (shift) s >= t.

// With weak noise, the threshold t can be below the rounding errors of the Gram matrix G. Only a
// larger diagonal loading s keeps G + s I positive definite.

/// Minimum of the diagonal loading s of a Gram matrix in single precision, relative to the largest
/// diagonal element of the matrix. At typical contrast, this minimum exceeds the threshold only if
/// sigma is below 1.
inline constexpr float min_float_shift = 1.0f / (1 << 15);
/// Minimum of the diagonal loading s of a Gram matrix that tensor cores compute, relative to the
/// largest diagonal element of the matrix. Products on tensor cores have only about 21 significant
/// bits.
inline constexpr float min_tensor_shift = 1.0f / (1 << 14);

// ---- half-precision samples ----

/// Maximum difference between two samples, on the 0..255 scale, for half precision. Chroma of RGB
/// frames of floats ranges from -416 to 416 (core/float_range.h).
inline constexpr float max_sample_difference = 1023;
/// Minimum of HalfScale::unit, on the 0..255 scale. With this minimum, sample differences are at
/// most 65504 units, the largest half-precision number.
inline constexpr float min_half_unit = 1.0f / 64;
static_assert(max_sample_difference / min_half_unit <= 65504);
/// Minimum standard deviation in half_scale(), on the 0..255 scale. With a smaller value, 1 /
/// threshold could overflow.
inline constexpr float min_half_sigma = 1e-6f;

/// The scale of samples in half precision, and the threshold on this scale. Samples are differences
/// from a common offset of the thread block, divided by `unit`.
struct HalfScale {
  float unit = 1;       // divisor of sample differences, on the 0..255 scale
  float threshold = 1;  // BayesParams::threshold, in units of unit^2 instead of sigma^2
};
/// Returns the scale for noise with the standard deviation `sigma`. HalfScale::unit is the larger
/// of `sigma` and min_half_unit.
constexpr HalfScale half_scale(float sigma, float threshold) {
  const float unit = std::max(sigma, min_half_unit);
  const float ratio = std::max(sigma, min_half_sigma) / unit;
  return {unit, threshold * ratio * ratio};
}

}  // namespace lull::bm3d
