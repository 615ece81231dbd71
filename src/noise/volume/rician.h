#pragma once
// Variance stabilisation of Rician noise: a function f before a filter, and an inverse function
// after the filter (Foi 2011, "Noise estimation and removal in MR imaging: the
// variance-stabilization approach", doi:10.1109/ISBI.2011.5872758).

// A Rician sample is z = |v + n1 + i * n2| in units of sigma. v is the true value, and n1 and n2
// are independent noise of variance 1. The forward function is f(z) = sqrt(max(z^2 - 1/2, 0)). For
// v >= 1.5, the standard deviation of the stabilised samples f(z) is 0.96 to 1.01. For smaller v,
// this standard deviation is at least 0.78 (docs/how-it-works/volume-noise.md).

// A filter estimates E[f(z) | v] for Rician samples z. This expectation differs from f(v). The
// exact unbiased inverse returns the v for which E[f(z) | v] is equal to the filter's result.

#include <algorithm>
#include <array>

namespace lull {

/// Computes f(z) = sqrt(max(z^2 - 1/2, 0)) for z >= 0. Magnitudes are not negative, but resampled
/// volumes contain negative samples beside edges. For z < 0, f(z) is z, so that such samples stay
/// dark. `root` computes the square root of a float.
template <class Root>
constexpr float rician_root(float z, Root root) {
  if (z < 0) return z;
  const float square = z * z - 0.5f;
  return square < 0 ? 0.0f : root(square);
}

/// The inverse of the stabilising function for Rician noise. A RicianStabiliser owns the table.
struct RicianInverse {
  static constexpr int knots = 1024;
  static constexpr float end = 8;  // from this d on, the inverse is an asymptotic formula
  // Values of the inverse function at equal steps of the square root of d - E[f(z) | 0], where d is
  // the filter's result. At low values, the inverse is nearly linear in this square root.
  const float* table = nullptr;  // knots + 1 values
  float of_zero = 0, scale = 0, third = 0;

  template <class Root>
  constexpr float operator()(float d, Root root) const {
    if (d >= end) return d - 1 / (4 * d) - third / (d * d * d);
    if (d <= of_zero) return 0;
    const float place = root(d - of_zero) * scale;
    if (!(place >= 0)) return d;  // NaN
    const int below = std::min(static_cast<int>(place), knots - 1);
    const float share = place - static_cast<float>(below);
    return table[below] + share * (table[below + 1] - table[below]);
  }
};

class RicianStabiliser {
 public:
  /// The constructor takes about 10 ms.
  /// @param shrink_range  width of a range of filter results that starts at E[f(z) | 0]. The
  /// inverse
  ///     function shrinks results in this range towards 0 (see rician_shrink_range).
  explicit RicianStabiliser(double shrink_range = 0);

  /// Computes the forward function f. NaN stays NaN.
  static float forward(float z);
  /// Returns the v >= 0 for which E[f(z) | v] is d, or 0 if d < E[f(z) | 0]. If d exceeds E[f(z) |
  /// 0] by less than `shrink_range` (see the constructor), the function returns a smaller value.
  /// The result increases with d.
  float inverse(float d) const;
  /// Returns E[f(z) | 0].
  float of_zero() const { return inverse_.of_zero; }
  /// Returns a copy of the inverse function. The copy points to the table of this object.
  RicianInverse inverse() const;

 private:
  std::array<float, RicianInverse::knots + 1> table_{};
  RicianInverse inverse_;  // its table pointer is null
};

/// Returns the variance of Rician samples in units of sigma^2, as a function of the ratio of mean
/// to standard deviation (Koay and Basser 2006, doi:10.1016/j.jmr.2006.01.016). In air, the ratio
/// is 1.91.
[[nodiscard]] double rician_variance(double ratio);
/// Returns the variance of Rician samples in units of sigma^2, as a function of their mean in units
/// of sigma. In air, the mean is 1.25.
[[nodiscard]] double rician_variance_at_mean(double mean);

/// Returns z * I1(z * v) / I0(z * v), in units of sigma. This value is the expectation of v + n1
/// for a Rician sample z = |v + n1 + i * n2|. It is the E step of the EM algorithm for v (Dempster,
/// Laird and Rubin 1977).
[[nodiscard]] double rician_expectation(double z, double v);

/// Returns the Fisher information about the true value v in a Rician sample, in units of the
/// information in a sample with Gaussian noise: 0 for v = 0, and nearly 1 for a strong signal. The
/// information is the variance of rician_expectation(z, v) over the samples z.
[[nodiscard]] double rician_information(double v);

/// Properties of Rician samples in air (v = 0), in units of sigma: a Rayleigh distribution.
inline constexpr double rayleigh_mean = 1.2533141373155;       // sqrt(pi / 2)
inline constexpr double rayleigh_ratio = 1.9130583802711;      // mean / standard deviation
inline constexpr double rayleigh_skewness = 0.63111065781894;  // third moment / deviation^3

}  // namespace lull
