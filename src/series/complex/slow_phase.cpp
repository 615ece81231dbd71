#include "series/complex/slow_phase.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

namespace lull::series {
namespace {

constexpr int phase_reach = 10;  // the filter has 2 * phase_reach + 1 taps

/// Returns the binomial coefficients C(20, 10), C(20, 11), .. C(20, 20), divided by 2^20.
constexpr std::array<float, phase_reach + 1> binomial_taps() {
  std::array<double, phase_reach + 1> taps{};
  double value = 1;  // 20 over k
  for (int k = 0; k <= 2 * phase_reach; ++k) {
    if (k >= phase_reach) taps[k - phase_reach] = value / (1 << (2 * phase_reach));
    value = value * (2 * phase_reach - k) / (k + 1);
  }
  std::array<float, phase_reach + 1> result{};
  for (int k = 0; k <= phase_reach; ++k) result[k] = static_cast<float>(taps[k]);
  return result;
}
constexpr auto taps = binomial_taps();

/// Filters `count` samples with the binomial filter and zero padding. `step` is the stride of the
/// samples.
void filter_line(const std::complex<float>* from, std::complex<float>* to, int count,
                 std::ptrdiff_t step) {
  for (int i = 0; i < count; ++i) {
    std::complex<float> sum = taps[0] * from[i * step];
    for (int k = 1; k <= phase_reach; ++k) {
      if (i - k >= 0) sum += taps[k] * from[(i - k) * step];
      if (i + k < count) sum += taps[k] * from[(i + k) * step];
    }
    to[i * step] = sum;
  }
}

}  // namespace

std::vector<std::complex<float>> slow_phase_factors(std::span<const std::complex<float>> slice,
                                                    int width, int height) {
  std::vector<std::complex<float>> samples(slice.begin(), slice.end()), rows(slice.size()),
      smooth(slice.size());
  for (std::complex<float>& sample : samples)
    if (std::isnan(sample.real()) || std::isnan(sample.imag())) sample = 0;
  for (int y = 0; y < height; ++y)
    filter_line(&samples[static_cast<std::size_t>(y) * width],
                &rows[static_cast<std::size_t>(y) * width], width, 1);
  for (int x = 0; x < width; ++x) filter_line(&rows[x], &smooth[x], height, width);
  for (std::size_t i = 0; i < smooth.size(); ++i) {
    const std::complex<float> others = smooth[i] - taps[0] * taps[0] * samples[i];
    const float magnitude = std::abs(others);
    smooth[i] = magnitude > 0 ? std::conj(others) / magnitude : 1;
  }
  return smooth;
}

void make_complex(const Samples& samples) {
  const Shape& shape = samples.shape;
  const int volumes = shape.volumes / 2;
  tbb::parallel_for(0, volumes * shape.slices, [&](int number) {
    const std::size_t count = shape.slice_voxels();
    float* real = samples.data + count * number;
    float* imaginary = real + shape.voxels() * volumes;
    std::vector<std::complex<float>> slice(count);
    for (std::size_t i = 0; i < count; ++i)
      slice[i] = {real[i] * std::cos(imaginary[i]), real[i] * std::sin(imaginary[i])};
    const auto factors = slow_phase_factors(slice, shape.width, shape.height);
    for (std::size_t i = 0; i < count; ++i) {
      const std::complex<float> sample = slice[i] * factors[i];
      const bool missing = std::isnan(sample.real()) || std::isnan(sample.imag());
      constexpr float nan = std::numeric_limits<float>::quiet_NaN();
      real[i] = missing ? nan : sample.real();
      imaginary[i] = missing ? nan : sample.imag();
    }
  });
}

}  // namespace lull::series
