#include "noise/patch_covariance.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace lull {
namespace {

/// Returns the longest lag with correlated noise along each axis.
std::array<int, 2> extent(const PlaneNoise& noise) {
  std::array<int, 2> longest{0, 0};
  for (int dy = -correlation_reach; dy <= correlation_reach; ++dy)
    for (int dx = -correlation_reach; dx <= correlation_reach; ++dx)
      if (noise.correlation_at(dx, dy) != 0)
        longest = {std::max(longest[0], std::abs(dx)), std::max(longest[1], std::abs(dy))};
  return longest;
}

/// Returns the autocorrelation of the first `side` elements of a transform row. Element i has the
/// lag i - (side - 1).
std::array<double, 15> autocorrelation(const std::array<double, 8>& row, int side) {
  std::array<double, 15> own{};
  for (int i = 0; i < side; ++i)
    for (int j = 0; j < side; ++j) own[j - i + side - 1] += row[i] * row[j];
  return own;
}

}  // namespace

PatchCovariance::PatchCovariance(const PlaneNoise& noise, const AxisTransform& rows, int side)
    : coefficients_(static_cast<std::size_t>(side) * side) {
  const auto [extent_x, extent_y] = extent(noise);
  const int span = side - 1;
  reach_x_ = span + extent_x;
  reach_y_ = span + extent_y;
  values_.resize((index(reach_x_, reach_y_) + 1) * coefficients_);
  // The covariance is a double sum over lags. The code first sums along x, and then along y.
  const int width = 2 * reach_x_ + 1, height = 2 * extent_y + 1;
  std::vector<double> along_x(static_cast<std::size_t>(width) * height);
  for (int u = 0; u < side; ++u) {
    const auto own_u = autocorrelation(rows[u], side);
    for (int ry = 0; ry < height; ++ry)
      for (int dx = -reach_x_; dx <= reach_x_; ++dx) {
        double sum = 0;
        for (int lag = -span; lag <= span; ++lag)
          sum += own_u[lag + span] * noise.correlation_at(lag + dx, ry - extent_y);
        along_x[ry * width + dx + reach_x_] = sum;
      }
    for (int v = 0; v < side; ++v) {
      const auto own_v = autocorrelation(rows[v], side);
      for (int dy = 0; dy <= reach_y_; ++dy)
        for (int dx = dy == 0 ? 0 : -reach_x_; dx <= reach_x_; ++dx) {
          double sum = 0;
          for (int lag = -span; lag <= span; ++lag)
            if (std::abs(lag + dy) <= extent_y)
              sum += own_v[lag + span] * along_x[(lag + dy + extent_y) * width + dx + reach_x_];
          values_[index(dx, dy) * coefficients_ + v * side + u] = sum;
        }
    }
  }
  for (std::size_t k = 0; k < coefficients_; ++k)
    values_[k] = std::max(values_[k], min_coefficient_variance);
}

}  // namespace lull
