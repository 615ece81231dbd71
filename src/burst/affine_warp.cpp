#include "burst/affine_warp.h"

#include <tbb/parallel_for.h>

#include <array>
#include <cmath>
#include <numbers>
#include <vector>

namespace lull::burst {
namespace {

constexpr int support = 6;  // half width of the Lanczos kernel, in samples
constexpr int taps = 2 * support;
constexpr int phases = 1024;  // number of tabulated positions between two samples

double sinc(double x) {
  const double t = std::numbers::pi * x;
  return x == 0 ? 1 : std::sin(t) / t;
}

/// A look-up table of Lanczos kernels for equally spaced positions between two samples. Each kernel
/// has `support` weights on either side of the position, normalised to the sum 1.
class Kernels {
 public:
  Kernels() : weights_(static_cast<std::size_t>(phases) + 1) {
    for (int p = 0; p <= phases; ++p) {
      std::array<double, taps> w;
      double sum = 0;
      for (int k = 0; k < taps; ++k) {
        const double x = k - (support - 1) - 1.0 * p / phases;
        w[k] = std::abs(x) < support ? sinc(x) * sinc(x / support) : 0;
        sum += w[k];
      }
      for (int k = 0; k < taps; ++k) weights_[p][k] = static_cast<float>(w[k] / sum);
    }
  }
  const std::array<float, taps>& at(double between) const {
    return weights_[static_cast<std::size_t>(between * phases + 0.5)];
  }

 private:
  std::vector<std::array<float, taps>> weights_;
};

int mirrored(int at, int size) {
  if (size == 1) return 0;
  const int period = 2 * size;
  at %= period;
  if (at < 0) at += period;
  return at < size ? at : period - 1 - at;
}

/// Returns the value of the sequence in(0), .., in(size - 1) at `place`, a position that may lie
/// between two samples. The function interpolates with the Lanczos kernel.
template <class In>
float interpolated(const Kernels& kernels, const In& in, int size, double place) {
  const double floor = std::floor(place);
  const std::array<float, taps>& w = kernels.at(place - floor);
  const int first = static_cast<int>(floor) - (support - 1);
  float sum = 0;
  if (first >= 0 && first + taps <= size) {
    for (int k = 0; k < taps; ++k) sum += w[k] * in(first + k);
  } else {
    for (int k = 0; k < taps; ++k) sum += w[k] * in(mirrored(first + k, size));
  }
  return sum;
}

}  // namespace

void warp(PlaneView<const float> from, const AffineWarp& by, PlaneView<float> intermediate,
          PlaneView<float> to) {
  static const Kernels kernels;
  const int width = from.width, height = from.height;
  const double middle_x = 0.5 * width - 0.5, middle_y = 0.5 * height - 0.5;
  // First pass, along rows. The whole warp maps (x, y) to a position (u, v) in `from`. The first
  // pass writes the value of `from` at (u, v) to the position (x, v) of the intermediate plane,
  // from which the second pass reads it.
  tbb::parallel_for(0, height, [&](int row) {
    const double v = row - middle_y;
    const float* const in = from.row(row);
    float* const out = intermediate.row(row);
    for (int column = 0; column < width; ++column) {
      const double x = column - middle_x, y = (v - by.move_y - by.y_by_x * x) / by.a;
      const double u = by.a * x - by.x_by_y * y + by.move_x + middle_x;
      out[column] = interpolated(
          kernels, [&](int i) { return in[i]; }, width, u);
    }
  });
  tbb::parallel_for(0, height, [&](int row) {
    const double y = row - middle_y;
    float* const out = to.row(row);
    for (int column = 0; column < width; ++column) {
      const double v = by.y_by_x * (column - middle_x) + by.a * y + by.move_y + middle_y;
      out[column] = interpolated(
          kernels, [&](int i) { return intermediate(column, i); }, height, v);
    }
  });
}

}  // namespace lull::burst
