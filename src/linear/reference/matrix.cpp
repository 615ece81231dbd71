#include "linear/reference/matrix.h"

namespace lull::linear {

Matrix transposed(const Matrix& a) {
  Matrix t(a.columns, a.rows);
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < a.columns; ++j) t(j, i) = a(i, j);
  return t;
}

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows, b.columns);
  for (int i = 0; i < a.rows; ++i)
    for (int k = 0; k < a.columns; ++k) {
      const double factor = a(i, k);
      for (int j = 0; j < b.columns; ++j) c(i, j) += factor * b(k, j);
    }
  return c;
}

Matrix inverse(Matrix a) {
  const int n = a.rows;
  for (int k = 0; k < n; ++k) {
    const double pivot = 1 / a(k, k);
    a(k, k) = 1;
    for (int j = 0; j < n; ++j) a(k, j) *= pivot;
    for (int i = 0; i < n; ++i) {
      if (i == k) continue;
      const double factor = a(i, k);
      a(i, k) = 0;
      for (int j = 0; j < n; ++j) a(i, j) -= factor * a(k, j);
    }
  }
  return a;
}

}  // namespace lull::linear
