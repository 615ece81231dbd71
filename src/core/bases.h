#pragma once
// The orthonormal DCT and the Kaiser window.

#include <array>
#include <cmath>
#include <numbers>

namespace lull {

/// Returns the rows of the orthonormal DCT-II for `side` samples. `side` is 1 to Most.
template <int Most>
[[nodiscard]] std::array<std::array<double, Most>, Most> dct_rows(int side = Most) {
  std::array<std::array<double, Most>, Most> rows{};
  for (int k = 0; k < side; ++k)
    for (int i = 0; i < side; ++i)
      rows[k][i] = std::sqrt((k == 0 ? 1.0 : 2.0) / side) *
                   std::cos(std::numbers::pi * (2 * i + 1) * k / (2 * side));
  return rows;
}

/// Returns all DCT rows in single precision, as an array [frequency][sample].
template <int Side>
[[nodiscard]] const std::array<std::array<float, Side>, Side>& float_dct_rows() {
  static const auto rows = [] {
    std::array<std::array<float, Side>, Side> floats;
    const auto doubles = dct_rows<Side>();
    for (int k = 0; k < Side; ++k)
      for (int i = 0; i < Side; ++i) floats[k][i] = static_cast<float>(doubles[k][i]);
    return floats;
  }();
  return rows;
}

/// Returns the modified Bessel function of the first kind, order 0, computed from its power series.
[[nodiscard]] inline double bessel_i0(double x) {
  double sum = 1, term = 1;
  for (int k = 1; k < 64; ++k) {
    term *= (x / (2 * k)) * (x / (2 * k));
    sum += term;
  }
  return sum;
}

/// Returns a Kaiser window of `side` samples, 2 <= side <= Most, with a maximum of 1. Elements
/// beyond `side` are 0.
template <int Most>
[[nodiscard]] std::array<float, Most> kaiser_window(float beta, int side = Most) {
  std::array<float, Most> window{};
  const auto b = static_cast<double>(beta);
  for (int i = 0; i < side; ++i) {
    const double r = 2.0 * i / (side - 1) - 1;
    window[i] = static_cast<float>(bessel_i0(b * std::sqrt(1 - r * r)) / bessel_i0(b));
  }
  return window;
}

}  // namespace lull
