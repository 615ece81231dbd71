#include "series/spectrum/symmetric_eigen.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/error.h"

namespace lull::series {
namespace {

/// A square matrix, row by row.
struct Matrix {
  int size;
  std::vector<double> values;

  explicit Matrix(int n) : size(n), values(static_cast<std::size_t>(n) * n) {}
  Matrix(int n, std::vector<double> of_matrix) : size(n), values(std::move(of_matrix)) {}
  double* row(int i) { return values.data() + static_cast<std::size_t>(i) * size; }
};

void add_multiple(double factor, const double* from, int count, double* to) {
  for (int i = 0; i < count; ++i) to[i] += factor * from[i];
}

double product(const double* a, const double* b, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

/// The tridiagonal matrix T and the orthogonal matrix Q of the symmetric input A = Q * T * Q'.
struct Tridiagonal {
  std::vector<double> diagonal, beside;  // beside[i] is the element in row i and column i + 1
  Matrix transposed;  // Q', because rotating rows is faster than rotating columns of Q
};

/// The Householder reflection I - beta * v * v', which changes only elements from index `first` on.
struct Reflection {
  int first;
  double beta;
  std::vector<double> v;
};

/// Applies the reflection from the left and from the right, to rows and columns from index `first`
/// on.
void reflect_both(const Reflection& reflection, Matrix& a) {
  const auto& [first, beta, v] = reflection;
  const int count = a.size - first;
  std::vector<double> p(count);
  for (int i = 0; i < count; ++i)
    add_multiple(beta * v[i], a.row(first + i) + first, count, p.data());
  const double half = beta / 2 * product(p.data(), v.data(), count);
  add_multiple(-half, v.data(), count, p.data());
  for (int i = 0; i < count; ++i) {
    double* row = a.row(first + i) + first;
    for (int j = 0; j < count; ++j) row[j] -= v[i] * p[j] + p[i] * v[j];
  }
}

/// Multiplies the matrix Q by the reflection from the left. In rows and columns before `first`, Q
/// must equal the identity matrix.
void reflect_left(const Reflection& reflection, Matrix& q) {
  const auto& [first, beta, v] = reflection;
  const int count = q.size - first;
  std::vector<double> sums(count);
  for (int i = 0; i < count; ++i) add_multiple(v[i], q.row(first + i) + first, count, sums.data());
  for (int i = 0; i < count; ++i)
    add_multiple(-beta * v[i], sums.data(), count, q.row(first + i) + first);
}

Tridiagonal tridiagonal_of(Matrix a) {
  const int n = a.size;
  Tridiagonal result{std::vector<double>(n), std::vector<double>(n), Matrix(n)};
  std::vector<Reflection> reflections;
  for (int k = 0; k + 1 < n; ++k) {
    const double* row = a.row(k) + k + 1;
    const int count = n - k - 1;
    const double rest = product(row + 1, row + 1, count - 1);
    if (rest == 0) {
      result.beside[k] = row[0];
      continue;
    }
    const double length = std::sqrt(row[0] * row[0] + rest);
    const double target = row[0] > 0 ? -length : length;
    Reflection reflection{k + 1, 0, std::vector<double>(row, row + count)};
    reflection.v[0] -= target;
    reflection.beta = 2 / product(reflection.v.data(), reflection.v.data(), count);
    reflect_both(reflection, a);
    result.beside[k] = target;
    reflections.push_back(std::move(reflection));
  }
  Matrix q(n);
  for (int i = 0; i < n; ++i) {
    q.row(i)[i] = 1;
    result.diagonal[i] = a.row(i)[i];
  }
  for (auto at = reflections.rbegin(); at != reflections.rend(); ++at) reflect_left(*at, q);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) result.transposed.row(j)[i] = q.row(i)[j];
  return result;
}

/// A rotation of the rows `row` and `row` + 1 of a matrix.
struct Rotation {
  int row;
  double cosine, sine;
};

/// Applies the rotations in order, in parallel over the columns.
void rotate_rows(const std::vector<Rotation>& rotations, Matrix& matrix) {
  constexpr int columns = 128;
  tbb::parallel_for(tbb::blocked_range<int>(0, matrix.size, columns), [&](const auto& part) {
    for (const auto& [row, cosine, sine] : rotations) {
      double *upper = matrix.row(row), *lower = matrix.row(row + 1);
      for (int i = part.begin(); i < part.end(); ++i) {
        const double u = upper[i], l = lower[i];
        upper[i] = cosine * u - sine * l;
        lower[i] = sine * u + cosine * l;
      }
    }
  });
}

/// Performs one QL sweep over the rows `first` to `last`, to reduce the magnitude of the first
/// off-diagonal element. All off-diagonal elements between these rows must be nonzero.
void sweep(int first, int last, Tridiagonal& t, std::vector<Rotation>& rotations) {
  std::vector<double>&d = t.diagonal, &e = t.beside;
  // The Wilkinson shift: the eigenvalue of the leading 2 x 2 block that is nearer to d[first].
  const double half = (d[first + 1] - d[first]) / (2 * e[first]);
  const double root = std::hypot(half, 1.0);
  double g = d[last] - d[first] + e[first] / (half + std::copysign(root, half));
  double sine = 1, cosine = 1, shift = 0;
  rotations.clear();
  for (int i = last - 1; i >= first; --i) {
    const double f = sine * e[i], b = cosine * e[i];
    const double length = std::hypot(f, g);
    if (i + 1 <= last - 1) e[i + 1] = length;
    if (length == 0) {  // the block splits here
      d[i + 1] -= shift;
      return;
    }
    sine = f / length;
    cosine = g / length;
    const double difference = d[i + 1] - shift;
    const double r = (d[i] - difference) * sine + 2 * cosine * b;
    shift = sine * r;
    d[i + 1] = difference + shift;
    g = cosine * r - b;
    rotations.push_back({i, cosine, sine});
  }
  d[first] -= shift;
  e[first] = g;
}

void diagonalise(Tridiagonal& t) {
  const int n = t.transposed.size;
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  constexpr int max_sweeps = 64;  // limit for one eigenvalue; 2 sweeps are usual
  double norm = 0;
  for (int i = 0; i < n; ++i)
    norm = std::max(norm, std::abs(t.diagonal[i]) + std::abs(t.beside[i]));
  // The threshold for negligible elements is at least a share of the norm of the matrix. Without
  // this minimum, the threshold near an eigenvalue of 0 would be smaller than the rounding errors.
  const auto is_negligible = [&](int i) {
    const double beside = std::abs(t.diagonal[i]) + std::abs(t.diagonal[i + 1]);
    return std::abs(t.beside[i]) <= epsilon * std::max(beside, 0.1 * norm);
  };
  std::vector<Rotation> rotations;
  for (int first = 0; first < n; ++first)
    for (int count = 0;; ++count) {
      int last = first;
      while (last + 1 < n && !is_negligible(last)) ++last;
      if (last == first) break;
      if (count == max_sweeps) throw InternalError("the QL method does not converge");
      sweep(first, last, t, rotations);
      rotate_rows(rotations, t.transposed);
    }
}

}  // namespace

EigenSystem eigen_of_symmetric(std::vector<double> matrix, int size) {
  if (!std::ranges::all_of(matrix, [](double v) { return std::isfinite(v); }))
    throw InternalError("the eigenvalues of a matrix with NaN or infinity were requested");
  Tridiagonal t = tridiagonal_of(Matrix(size, std::move(matrix)));
  diagonalise(t);
  std::vector<int> order(size);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int a, int b) { return t.diagonal[a] > t.diagonal[b]; });
  EigenSystem result;
  for (const int k : order) {
    result.values.push_back(t.diagonal[k]);
    const double* row = t.transposed.row(k);
    const double* largest = std::max_element(
        row, row + size, [](double a, double b) { return std::abs(a) < std::abs(b); });
    const double sign = *largest < 0 ? -1 : 1;
    for (int i = 0; i < size; ++i) result.vectors.push_back(sign * row[i]);
  }
  return result;
}

}  // namespace lull::series
