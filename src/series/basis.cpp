#include "series/basis.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace lull::series {

Basis::Basis(std::vector<int> volumes, std::vector<double> means,
             const std::vector<double>& vectors, int components)
    : volumes_(std::move(volumes)),
      means_(std::move(means)),
      components_(components),
      rows_(vectors.begin(), vectors.begin() + static_cast<std::ptrdiff_t>(components) * size()),
      columns_(rows_.size()) {
  for (int k = 0; k < components_; ++k)
    for (int i = 0; i < size(); ++i)
      columns_[static_cast<std::size_t>(i) * components_ + k] = direction(k)[i];
}

double Basis::leverage(int i) const {
  double sum = 0;
  for (int k = 0; k < components_; ++k) sum += direction(k)[i] * direction(k)[i];
  return std::min(sum, 1.0);
}

bool Basis::is_separate(int i) const {
  for (int k = 0; k < components_; ++k)
    if (direction(k)[i] == 1) return true;
  return false;
}

void Basis::project(const double* samples, double* components) const {
  std::fill_n(components, components_, 0.0);
  for (int i = 0; i < size(); ++i) {
    const double* column = columns_.data() + static_cast<std::size_t>(i) * components_;
    const double difference = samples[i] - means_[i];
    for (int k = 0; k < components_; ++k) components[k] += difference * column[k];
  }
}

void Basis::reconstruct(const double* components, double* samples) const {
  std::ranges::copy(means_, samples);
  for (int k = 0; k < components_; ++k) {
    const double* row = direction(k);
    for (int i = 0; i < size(); ++i) samples[i] += components[k] * row[i];
  }
}

}  // namespace lull::series
