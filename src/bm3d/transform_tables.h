#pragma once
// The 1D transforms of a patch as 8x8 matrices, computed at compile time, so that host backends and
// device code use the same numbers.

namespace lull::bm3d {

/// The forward or the inverse matrix of a transform. Row k of the forward matrix F computes
/// coefficient k. The 2D transform of a patch X is C = F X F^T, and the inverse transform is X = G
/// C G^T, where G is the inverse of F.
template <class Real>
struct Matrix8 {
  Real at[8][8];
};

namespace table_detail {

inline constexpr double pi = 3.14159265358979323846;

/// Returns the square root of x by Newton's method. x must be positive and of moderate size.
constexpr double square_root(double x) {
  double root = x < 1 ? 1 : x;
  for (int i = 0; i < 64; ++i) root = (root + x / root) / 2;
  return root;
}

/// Returns the cosine of x by its Taylor series, after reduction of x to [-pi, pi].
constexpr double cosine(double x) {
  while (x > pi) x -= 2 * pi;
  while (x < -pi) x += 2 * pi;
  double term = 1, sum = 1;
  for (int k = 1; k < 24; ++k) {
    term *= -x * x / ((2 * k - 1) * (2 * k));
    sum += term;
  }
  return sum;
}

constexpr Matrix8<double> transposed(const Matrix8<double>& m) {
  Matrix8<double> result{};
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) result.at[i][j] = m.at[j][i];
  return result;
}

/// Returns the inverse of the invertible matrix `m` by Gauss-Jordan elimination with partial
/// pivoting.
constexpr Matrix8<double> inverted(Matrix8<double> m) {
  Matrix8<double> inverse{};
  for (int i = 0; i < 8; ++i) inverse.at[i][i] = 1;
  const auto magnitude = [](double v) { return v < 0 ? -v : v; };
  for (int column = 0; column < 8; ++column) {
    int pivot = column;
    for (int i = column + 1; i < 8; ++i)
      if (magnitude(m.at[i][column]) > magnitude(m.at[pivot][column])) pivot = i;
    for (int j = 0; j < 8; ++j) {
      const double a = m.at[column][j], b = inverse.at[column][j];
      m.at[column][j] = m.at[pivot][j], m.at[pivot][j] = a;
      inverse.at[column][j] = inverse.at[pivot][j], inverse.at[pivot][j] = b;
    }
    const double scale = 1 / m.at[column][column];
    for (int j = 0; j < 8; ++j) m.at[column][j] *= scale, inverse.at[column][j] *= scale;
    for (int i = 0; i < 8; ++i) {
      if (i == column) continue;
      const double factor = m.at[i][column];
      for (int j = 0; j < 8; ++j) {
        m.at[i][j] -= factor * m.at[column][j];
        inverse.at[i][j] -= factor * inverse.at[column][j];
      }
    }
  }
  return inverse;
}

/// Returns the matrix of the orthonormal DCT-II.
constexpr Matrix8<double> make_dct() {
  Matrix8<double> m{};
  for (int k = 0; k < 8; ++k)
    for (int n = 0; n < 8; ++n)
      m.at[k][n] = square_root((k == 0 ? 1.0 : 2.0) / 8) * cosine(pi * (2 * n + 1) * k / 16);
  return m;
}

/// Returns the matrix of three levels of the periodised wavelet Bior1.5 for 8 samples (Cohen,
/// Daubechies and Feauveau 1992, doi:10.1002/cpa.3160450502, N = 1 and N~ = 5). The rows compute
/// the approximation, 1 detail coefficient of level 3, 2 of level 2, and 4 of level 1. Rows have
/// the L2 norm 1 for equal noise variances.
constexpr Matrix8<double> make_bior() {
  // The taps of the low-pass filter, multiplied by 256 / sqrt(2). Output i of the filter is the sum
  // of low[tap] * x[2 * i + tap - 4] over all taps, where x is the signal.
  constexpr double low[10] = {3, -3, -22, 22, 128, 128, 22, -22, -3, 3};
  Matrix8<double> m{};
  for (int i = 0; i < 8; ++i) m.at[i][i] = 1;  // row i: the i-th value as weights of the samples
  for (int length = 8; length > 1; length /= 2) {
    Matrix8<double> next = m;
    for (int i = 0; i < length / 2; ++i) {
      for (int j = 0; j < 8; ++j) {
        double sum = 0;
        for (int tap = 0; tap < 10; ++tap)
          sum += low[tap] * m.at[(2 * i + tap - 4 + 8 * length) % length][j];
        next.at[i][j] = sum;
        next.at[length / 2 + i][j] = m.at[2 * i][j] - m.at[2 * i + 1][j];
      }
    }
    m = next;
  }
  for (auto& row : m.at) {
    double energy = 0;
    for (const double v : row) energy += v * v;
    for (double& v : row) v /= square_root(energy);
  }
  return m;
}

template <class Real>
constexpr Matrix8<Real> rounded(const Matrix8<double>& m) {
  Matrix8<Real> result{};
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) result.at[i][j] = static_cast<Real>(m.at[i][j]);
  return result;
}

inline constexpr Matrix8<double> dct = make_dct();
inline constexpr Matrix8<double> bior = make_bior();
inline constexpr Matrix8<double> bior_inverse = inverted(bior);

}  // namespace table_detail

template <class Real>
inline constexpr Matrix8<Real> dct_forward = table_detail::rounded<Real>(table_detail::dct);
template <class Real>
inline constexpr Matrix8<Real> dct_inverse =
    table_detail::rounded<Real>(table_detail::transposed(table_detail::dct));
template <class Real>
inline constexpr Matrix8<Real> bior_forward = table_detail::rounded<Real>(table_detail::bior);
template <class Real>
inline constexpr Matrix8<Real> bior_inverse =
    table_detail::rounded<Real>(table_detail::bior_inverse);

}  // namespace lull::bm3d
