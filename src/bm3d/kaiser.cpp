#include "bm3d/kaiser.h"

#include <cmath>

namespace lull::bm3d {
namespace {

// Modified Bessel function of the first kind, order 0, by its power series.
double bessel_i0(double x) {
  double sum = 1, term = 1;
  for (int k = 1; k < 64; ++k) {
    term *= (x / (2 * k)) * (x / (2 * k));
    sum += term;
  }
  return sum;
}

}  // namespace

std::array<float, patch> kaiser_window(float beta, int side) {
  std::array<float, patch> window{};
  for (int i = 0; i < side; ++i) {
    const double r = 2.0 * i / (side - 1) - 1;
    window[i] = static_cast<float>(bessel_i0(beta * std::sqrt(1 - r * r)) / bessel_i0(beta));
  }
  return window;
}

}  // namespace lull::bm3d
