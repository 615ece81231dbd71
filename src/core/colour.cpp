#include "core/colour.h"

#include <algorithm>
#include <cmath>

namespace lull {

std::array<float, 3> opponent_sigma(const std::array<float, 3>& rgb_sigma) {
  std::array<float, 3> sigma;
  for (int i = 0; i < 3; ++i) {
    double variance = 0;
    for (int j = 0; j < 3; ++j) {
      const double part = static_cast<double>(opponent_forward[i][j]) * rgb_sigma[j];
      variance += part * part;
    }
    sigma[i] = static_cast<float>(std::sqrt(variance));
  }
  return sigma;
}

std::array<float, 3> opponent_filter_sigma(const std::array<float, 3>& rgb_sigma) {
  std::array<float, 3> sigma = opponent_sigma(rgb_sigma);
  const float rgb_level = std::sqrt(3.0f) * sigma[0];  // sigma of R, G and B if all three are equal
  sigma[0] *= 1 - 0.001f * (std::clamp(rgb_level, 10.0f, 50.0f) - 10);
  return sigma;
}

void apply_colour_matrix(const float (&m)[3][3], const std::array<PlaneView<float>, 3>& planes) {
  for (int y = 0; y < planes[0].height; ++y) {
    float* a = planes[0].row(y);
    float* b = planes[1].row(y);
    float* c = planes[2].row(y);
    for (int x = 0; x < planes[0].width; ++x) {
      const float u = a[x], v = b[x], w = c[x];
      a[x] = m[0][0] * u + m[0][1] * v + m[0][2] * w;
      b[x] = m[1][0] * u + m[1][1] * v + m[1][2] * w;
      c[x] = m[2][0] * u + m[2][1] * v + m[2][2] * w;
    }
  }
}

}  // namespace lull
