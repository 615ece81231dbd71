#include "bm4d/cubes.h"

#include <cmath>
#include <numbers>

namespace lull::bm4d {
namespace {

/// Modified Bessel function of the first kind, order 0, by its power series.
double bessel_i0(double x) {
  double sum = 1, term = 1;
  for (int k = 1; k < 64; ++k) {
    term *= (x / (2 * k)) * (x / (2 * k));
    sum += term;
  }
  return sum;
}

}  // namespace

AxisMatrix dct_rows(int side) {
  AxisMatrix rows{};
  for (int k = 0; k < side; ++k)
    for (int i = 0; i < side; ++i)
      rows[k][i] = std::sqrt((k == 0 ? 1.0 : 2.0) / side) *
                   std::cos(std::numbers::pi * (2 * i + 1) * k / (2 * side));
  return rows;
}

std::array<float, max_cube> kaiser_window(float beta, int side) {
  std::array<float, max_cube> window{};
  const auto b = static_cast<double>(beta);
  for (int i = 0; i < side; ++i) {
    const double r = 2.0 * i / (side - 1) - 1;
    window[i] = static_cast<float>(bessel_i0(b * std::sqrt(1 - r * r)) / bessel_i0(b));
  }
  return window;
}

}  // namespace lull::bm4d
