#pragma once
// Windows of samples around a position, and robust statistics.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/image.h"

namespace lull::repair {

/// Minimum width and height of a plane for a search for defects.
inline constexpr int min_side = 16;

/// Returns the index in 0..size - 1 that mirrors the index `at` at the borders. `at` may be up to
/// size - 1 beyond a border.
constexpr int mirrored(int at, int size) {
  return at < 0 ? -at : at >= size ? 2 * size - 2 - at : at;
}

/// The 24 samples around the centre of a 5x5 window.
using Ring24 = std::array<float, 24>;

inline Ring24 ring_24(PlaneView<const float> plane, int x, int y) {
  Ring24 ring;
  std::size_t count = 0;
  for (int dy = -2; dy <= 2; ++dy)
    for (int dx = -2; dx <= 2; ++dx)
      if (dx != 0 || dy != 0)
        ring[count++] = plane(mirrored(x + dx, plane.width), mirrored(y + dy, plane.height));
  return ring;
}

/// Returns the 8 samples around the centre of a 3x3 window.
inline std::array<float, 8> ring_8(PlaneView<const float> plane, int x, int y) {
  std::array<float, 8> ring;
  std::size_t count = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      if (dx != 0 || dy != 0)
        ring[count++] = plane(mirrored(x + dx, plane.width), mirrored(y + dy, plane.height));
  return ring;
}

/// Returns the median of the values, or 0 if there are no values. The median of an even number of
/// values is the mean of the two middle values. Reorders the values.
inline float median(std::vector<float>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

/// Ratio of the standard deviation of Gaussian noise to its median absolute deviation.
inline constexpr float sigma_of_mad = 1.4826f;

/// Returns the standard deviation of the values, estimated by the median absolute deviation from
/// `centre`.
inline float robust_deviation(std::vector<float> values, float centre) {
  for (float& value : values) value = std::abs(value - centre);
  return sigma_of_mad * median(values);
}

/// Returns the standard deviation of white noise, estimated by the median absolute second
/// differences along rows or columns. Texture increases the result.
[[nodiscard]] float noise_level(PlaneView<const float> plane);

}  // namespace lull::repair
