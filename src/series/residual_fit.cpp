#include "series/residual_fit.h"

#include <array>
#include <cmath>
#include <cstddef>

namespace lull::series {
namespace {

constexpr int first_components = 4;
// Minimum variance of strong components, in units of the noise variance.
constexpr double min_variance = 10;
constexpr double min_voxels = 500;
constexpr std::size_t max_regressors = first_components + 1;

/// Solves the normal equations of a least squares fit by elimination without pivoting. If a
/// regressor depends linearly on the previous regressors, its factor becomes 0.
std::vector<double> solve(std::vector<double> matrix, std::vector<double> right) {
  constexpr double min_pivot = 1e-6;  // relative to the diagonal element
  const std::size_t n = right.size();
  std::vector<double> diagonal(n), result(n);
  for (std::size_t i = 0; i < n; ++i) diagonal[i] = matrix[i * n + i];
  const auto is_usable = [&](std::size_t i) { return matrix[i * n + i] > min_pivot * diagonal[i]; };
  for (std::size_t i = 0; i < n; ++i) {
    if (!is_usable(i)) continue;
    for (std::size_t row = i + 1; row < n; ++row) {
      const double factor = matrix[row * n + i] / matrix[i * n + i];
      for (std::size_t column = i; column < n; ++column)
        matrix[row * n + column] -= factor * matrix[i * n + column];
      right[row] -= factor * right[i];
    }
  }
  for (std::size_t i = n; i-- > 0;) {
    if (!is_usable(i)) continue;
    double sum = right[i];
    for (std::size_t column = i + 1; column < n; ++column)
      sum -= matrix[i * n + column] * result[column];
    result[i] = sum / matrix[i * n + i];
  }
  return result;
}

}  // namespace

void ResidualFit::start(int k) {
  regressors_ = strong_;
  if (k < first_components) regressors_.push_back(k);
  const std::size_t n = regressors_.size() + 1;
  products_.assign(n * n, 0);
  residuals_.assign(n, 0);
}

void ResidualFit::add(int k, int z, const float* filtered) {
  if (z == 0) start(k);
  const std::size_t n = residuals_.size(), voxels = components_.shape.slice_voxels();
  const std::size_t first = z * voxels;
  std::array<double, max_regressors> values{1};
  std::array<const float*, max_regressors> from{};
  for (std::size_t i = 1; i < n; ++i)
    from[i] = regressors_[i - 1] == k ? filtered : components_.volume(regressors_[i - 1]) + first;
  const float* noisy = components_.volume(k) + first;
  for (std::size_t voxel = 0; voxel < voxels; ++voxel) {
    const double residual =
        static_cast<double>(noisy[voxel]) - static_cast<double>(filtered[voxel]);
    if (!is_object(first + voxel) || !std::isfinite(residual)) continue;
    for (std::size_t i = 1; i < n; ++i) values[i] = static_cast<double>(from[i][voxel]);
    for (std::size_t i = 0; i < n; ++i) {
      residuals_[i] += values[i] * residual;
      for (std::size_t j = 0; j <= i; ++j) products_[i * n + j] += values[i] * values[j];
    }
  }
}

void ResidualFit::finish(int k) {
  std::size_t n = residuals_.size();
  const double voxels = products_.empty() ? 0 : products_[0];
  if (voxels < min_voxels) return;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j) products_[j * n + i] = products_[i * n + j];
  if (k < first_components) {
    const double mean = products_[n - 1] / voxels;
    if (products_[n * n - 1] / voxels - mean * mean >= min_variance) {
      strong_.push_back(k);
    } else {  // the component itself, the last regressor, is not strong
      std::vector<double> products;
      for (std::size_t i = 0; i + 1 < n; ++i)
        for (std::size_t j = 0; j + 1 < n; ++j) products.push_back(products_[i * n + j]);
      products_ = std::move(products);
      residuals_.pop_back();
      regressors_.pop_back();
      --n;
    }
  }
  const std::vector<double> factors = solve(products_, residuals_);
  float* const component = components_.volume(k);
  for (std::size_t voxel = 0; voxel < components_.shape.voxels(); ++voxel) {
    if (!is_object(voxel)) continue;
    double fitted = factors[0];
    for (std::size_t i = 1; i < n; ++i)
      fitted += factors[i] * static_cast<double>(components_.volume(regressors_[i - 1])[voxel]);
    component[voxel] += static_cast<float>(fitted);
  }
}

}  // namespace lull::series
