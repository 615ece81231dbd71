#pragma once
// Rician noise made Gaussian and even: a function of samples before a filter, and the way back
// after it.
//
// Foi 2011, "Noise estimation and removal in MR imaging: the variance-stabilization approach"
// (doi:10.1109/ISBI.2011.5872758). A sample is z = |v + n1 + i n2|, here in units of sigma. The
// forward function is f(z) = sqrt(max(z^2 - 1/2, 0)): from v = 1.5 on the noise in it is 0.96 to
// 1.01 strong, below it falls to 0.78 (of z to 0.66). Of the functions that keep it nearer to 1
// there (docs/how-it-works/volume-noise.md) none was better where there is something to see, and
// all left more in air. A filter gives an estimate of E[f(z) | v], which is not f(v), so that the
// way back is the exact unbiased inverse: that v of which it is the expectation.

#include <algorithm>
#include <array>

namespace lull {

/// f, wherever `root` takes the square root of floats.
template <class Root>
constexpr float rician_root(float z, Root root) {
  const float square = z * z - 0.5f;
  return square < 0 ? 0.0f : root(square);
}

/// The way back, of a table that somebody else keeps.
struct RicianInverse {
  static constexpr int knots = 1024;
  static constexpr float end = 8;  // from here on an asymptote
  // By the root of d - E[f(z) | 0], which v is nearly a multiple of in the beginning.
  const float* table = nullptr;  // knots + 1
  float of_zero = 0, scale = 0, third = 0;

  template <class Root>
  constexpr float operator()(float d, Root root) const {
    if (d >= end) return d - 1 / (4 * d) - third / (d * d * d);
    if (d <= of_zero) return 0;
    const float place = root(d - of_zero) * scale;
    if (!(place >= 0)) return d;  // not a number
    const int below = std::min(static_cast<int>(place), knots - 1);
    const float share = place - static_cast<float>(below);
    return table[below] + share * (table[below + 1] - table[below]);
  }
};

class RicianStabiliser {
 public:
  /// Integrates the density of z for 720 values of v: some 10 ms.
  /// `doubt`: what a filter gives still has noise, and the inverse, which is steep at 0 and has
  /// nothing below, makes a mean of it that air does not have. As far as E[f(z) | 0] + doubt the
  /// exact inverse is drawn to 0. (What BM4D leaves is 0.05 strong. With a doubt of 0.08 the mean
  /// of air is 0.06 sigma in place of 0.11, that of v = 0.4 sigma 0.16 too little in place of 0.09,
  /// and from v = 0.8 on nothing changes.)
  explicit RicianStabiliser(double doubt = 0);

  /// f. Not a number stays that.
  static float forward(float z);
  /// v >= 0 of which `d` is E[f(z) | v], but for the doubt; 0 for what is less than that of v = 0.
  /// Increasing.
  float inverse(float d) const;
  /// E[f(z) | 0].
  float of_zero() const { return inverse_.of_zero; }
  /// inverse(), with its table in this object.
  RicianInverse inverse() const;

 private:
  std::array<float, RicianInverse::knots + 1> table_{};
  RicianInverse inverse_;  // without the table
};

/// What is seen of Rician noise where the mean of samples is `ratio` times their standard
/// deviation: the variance, in units of sigma^2 (Koay and Basser 2006, "Analytically exact
/// correction scheme for signal extraction from noisy magnitude MR signals",
/// doi:10.1016/j.jmr.2006.01.016). From 0.43 in air, where the ratio is 1.91, to 1.
[[nodiscard]] double rician_variance(double ratio);

/// In air (v = 0) samples have these, in units of sigma: Rayleigh's distribution.
inline constexpr double rayleigh_mean = 1.2533141373155;       // sqrt(pi / 2)
inline constexpr double rayleigh_ratio = 1.9130583802711;      // mean / standard deviation
inline constexpr double rayleigh_skewness = 0.63111065781894;  // third central moment / deviation^3

}  // namespace lull
