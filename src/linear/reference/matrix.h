#pragma once
// Matrices of doubles for the `reference` backends.

#include <cstddef>
#include <vector>

namespace lull::linear {

/// A matrix of doubles. In matrices of patches, each row is a patch.
struct Matrix {
  int rows = 0, columns = 0;
  std::vector<double> values;

  Matrix() = default;
  Matrix(int r, int c)
      : rows(r), columns(c), values(static_cast<std::size_t>(r) * static_cast<std::size_t>(c)) {}
  double& operator()(int r, int c) {
    return values[static_cast<std::size_t>(r) * static_cast<std::size_t>(columns) +
                  static_cast<std::size_t>(c)];
  }
  double operator()(int r, int c) const { return const_cast<Matrix&>(*this)(r, c); }
};

[[nodiscard]] Matrix transposed(const Matrix& a);
[[nodiscard]] Matrix product(const Matrix& a, const Matrix& b);
/// Returns the inverse of a symmetric positive definite matrix, by Gauss-Jordan elimination.
[[nodiscard]] Matrix inverse(Matrix a);

}  // namespace lull::linear
