#include "series/complex/remaining_phase.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <vector>

#include "series/samples/series_noise.h"

namespace lull::series {
namespace {

using Slice = std::vector<std::complex<float>>;

/// Computes slices of complex samples from filtered components.
class ComplexSlices {
 public:
  ComplexSlices(const Fit& fit, const Samples& components, int volumes)
      : fit_(fit),
        components_(components),
        stabiliser_(fit.noise, components.shape),
        volumes_(volumes),
        places_(2 * static_cast<std::size_t>(volumes), -1) {
    for (int i = 0; i < fit.basis.size(); ++i) places_[fit.basis.volumes()[i]] = i;
  }

  /// Returns slice `z` of a volume. The result is 0 in constant voxels (VoxelState::constant), and
  /// in all voxels of a volume without noise.
  Slice slice(int volume, int z) const {
    const std::vector<float> real = part(volume, z), imaginary = part(volume + volumes_, z);
    Slice result(real.size());
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = {real[i], imaginary[i]};
    return result;
  }

 private:
  std::vector<float> part(int volume, int z) const {
    const std::size_t count = components_.shape.slice_voxels(), first = z * count;
    const int place = places_[volume];
    if (place < 0) return std::vector<float>(count);
    std::vector<float> sums(count, static_cast<float>(fit_.basis.mean(place)));
    for (int k = 0; k < fit_.basis.components(); ++k) {
      const auto weight = static_cast<float>(fit_.basis.direction(k)[place]);
      const float* component = components_.volume(k) + first;
      for (std::size_t i = 0; i < count; ++i) sums[i] += weight * component[i];
    }
    for (std::size_t i = 0; i < count; ++i)
      sums[i] = fit_.states[first + i] == VoxelState::constant
                    ? 0
                    : stabiliser_.inverse(volume, first + i, sums[i]);
    return sums;
  }

  const Fit& fit_;
  const Samples& components_;
  Stabiliser stabiliser_;
  int volumes_;
  std::vector<int> places_;  // index of each volume in the basis; -1: the volume has no noise
};

/// Filters `count` samples with the weights 1, 2, 1 and zero padding. `step` is the stride of the
/// samples.
void filter_line(const std::complex<float>* from, std::complex<float>* to, int count,
                 std::ptrdiff_t step) {
  for (int i = 0; i < count; ++i) {
    std::complex<float> sum = 2.0f * from[i * step];
    if (i > 0) sum += from[(i - 1) * step];
    if (i + 1 < count) sum += from[(i + 1) * step];
    to[i * step] = sum;
  }
}

Slice weighted_means(const Slice& slice, int width, int height) {
  Slice rows(slice.size()), means(slice.size());
  for (int y = 0; y < height; ++y) {
    const std::size_t first = static_cast<std::size_t>(y) * width;
    filter_line(&slice[first], &rows[first], width, 1);
  }
  for (int x = 0; x < width; ++x) filter_line(&rows[x], &means[x], height, width);
  return means;
}

}  // namespace

void remove_remaining_phase(const Samples& samples, const Fit& fit, const Samples& components,
                            const Samples& removed) {
  const Shape& shape = samples.shape;
  const int volumes = shape.volumes / 2;
  const ComplexSlices clean(fit, components, volumes);
  tbb::parallel_for(0, volumes * shape.slices, [&](int number) {
    const std::size_t count = shape.slice_voxels();
    const Slice means = weighted_means(clean.slice(number / shape.slices, number % shape.slices),
                                       shape.width, shape.height);
    float* real = samples.data + count * number;
    float* imaginary = real + shape.voxels() * volumes;
    for (std::size_t i = 0; i < count; ++i) {
      const float magnitude = std::abs(means[i]);
      const std::complex<float> factor = magnitude > 0 ? std::conj(means[i]) / magnitude : 1;
      const float a = real[i], b = imaginary[i];
      real[i] = a * factor.real() - b * factor.imag();
      imaginary[i] = a * factor.imag() + b * factor.real();
      if (removed.data) removed.data[count * number + i] = -std::arg(factor);
    }
  });
}

}  // namespace lull::series
