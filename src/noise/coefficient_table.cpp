#include "noise/coefficient_table.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "core/bases.h"
#include "noise/patch_covariance.h"

// T(v, u) is the variance of the DCT coefficient (v, u) of noise. R(l, m) is the autocorrelation of
// the noise at a lag of l rows and m columns. The code assumes that R is equal for m and -m. T is
// then a linear function of R, with a matrix A:
//     T(v, u) = sum over l = 0..7 and m = 0..7 of A(v, l) * R(l, m) * A(u, m).

// In matrix form, the coefficient variances are T = A * R * A^T, where R is the autocorrelation of
// the noise. own_k is the autocorrelation of row k of the DCT. A(k, 0) is own_k(0), and A(k, l) is
// 2 * own_k(l) for l > 0.

// The code treats the autocorrelation R of the noise as periodic, with a period of 15 samples. The
// power spectrum of the noise is then F * R * F^T. F(f, l) is cos(2 * pi * f * l / 15) for l = 0,
// and twice this cosine for l > 0. The power spectrum must not be negative.

namespace lull {
namespace {

using Matrix = std::array<std::array<double, 8>, 8>;

constexpr double pi = std::numbers::pi;
constexpr int period = 15;

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c{};
  for (int i = 0; i < 8; ++i)
    for (int k = 0; k < 8; ++k)
      for (int j = 0; j < 8; ++j) c[i][j] += a[i][k] * b[k][j];
  return c;
}

Matrix transposed(const Matrix& a) {
  Matrix t;
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) t[j][i] = a[i][j];
  return t;
}

/// Returns m x m^T.
Matrix both_ways(const Matrix& m, const Matrix& x) { return product(product(m, x), transposed(m)); }

/// Inverts a matrix by Gauss-Jordan elimination with pivoting.
Matrix inverse(Matrix a) {
  Matrix result{};
  for (int i = 0; i < 8; ++i) result[i][i] = 1;
  for (int c = 0; c < 8; ++c) {
    int pivot = c;
    for (int r = c + 1; r < 8; ++r)
      if (std::abs(a[r][c]) > std::abs(a[pivot][c])) pivot = r;
    std::swap(a[c], a[pivot]);
    std::swap(result[c], result[pivot]);
    const double scale = 1 / a[c][c];
    for (int j = 0; j < 8; ++j) a[c][j] *= scale, result[c][j] *= scale;
    for (int r = 0; r < 8; ++r) {
      const double times = r == c ? 0 : a[r][c];
      for (int j = 0; j < 8; ++j) {
        a[r][j] -= times * a[c][j];
        result[r][j] -= times * result[c][j];
      }
    }
  }
  return result;
}

struct Maps {
  Matrix variances_of_lags{};  // A
  Matrix lags_of_variances;    // A^-1
  Matrix power_of_lags;        // F
  Matrix variances_of_power;   // A F^-1 (see the top of this file), which has no negative element
  Matrix lags_of_power;        // F^-1

  Maps() {
    const AxisTransform rows = dct_rows<8>();
    for (int k = 0; k < 8; ++k)
      for (int l = 0; l < 8; ++l) {
        for (int i = 0; i + l < 8; ++i) variances_of_lags[k][l] += rows[k][i] * rows[k][i + l];
        if (l > 0) variances_of_lags[k][l] *= 2;
        power_of_lags[k][l] = (l > 0 ? 2 : 1) * std::cos(2 * pi * k * l / period);
      }
    lags_of_variances = inverse(variances_of_lags);
    lags_of_power = inverse(power_of_lags);
    variances_of_power = product(variances_of_lags, lags_of_power);
  }
};

const Maps& maps() {
  static const Maps all;
  return all;
}

/// Returns the non-negative power spectrum whose coefficient variances have the smallest
/// Itakura-Saito divergence from `table`. The iteration starts at `power`, and multiplies each
/// element by a factor in each step (Fevotte, Bertin, Durrieu 2009, section 3,
/// doi:10.1162/neco.2008.04-08-771).
Matrix fitted_power(const Matrix& table, Matrix power) {
  constexpr int rounds = 200;
  const Matrix& map = maps().variances_of_power;
  const Matrix back = transposed(map);
  for (int round = 0; round < rounds; ++round) {
    Matrix wanted = both_ways(map, power), had = wanted;
    for (int k = 0; k < 8; ++k)
      for (int l = 0; l < 8; ++l) {
        had[k][l] = 1 / had[k][l];
        wanted[k][l] = table[k][l] * had[k][l] * had[k][l];
      }
    const Matrix up = both_ways(back, wanted), down = both_ways(back, had);
    for (int k = 0; k < 8; ++k)
      for (int l = 0; l < 8; ++l) power[k][l] *= std::sqrt(up[k][l] / down[k][l]);
  }
  return power;
}

/// Converts coefficient variances to the autocovariance at lags of 0..7 along both axes. The mean
/// of `table` must be 1.
Matrix lags_of(const Matrix& table) {
  const Matrix lags = both_ways(maps().lags_of_variances, table);
  Matrix power = both_ways(maps().power_of_lags, lags);
  double minimum = 0;
  for (const auto& row : power)
    for (const double p : row) minimum = std::min(minimum, p);
  if (minimum > -1e-3) return lags;
  for (auto& row : power)
    for (double& p : row) p = std::max(p, 1e-2);
  return both_ways(maps().lags_of_power, fitted_power(table, power));
}

}  // namespace

PlaneNoise noise_of(const CoefficientTable& variances) {
  double mean = 0;
  for (const float v : variances) mean += static_cast<double>(std::max(v, 0.0f)) / 64;
  if (!(mean > 0) || !std::isfinite(mean)) return {};
  Matrix table;
  for (int k = 0; k < 64; ++k)
    table[k / 8][k % 8] = std::max(static_cast<double>(variances[k]) / mean, 1e-5);
  const Matrix lags = lags_of(table);
  PlaneNoise noise{static_cast<float>(std::sqrt(mean)), nullptr, nullptr};
  auto correlation = std::make_shared<Autocorrelation>();
  bool white = true;
  for (int dy = -correlation_reach; dy <= correlation_reach; ++dy)
    for (int dx = -correlation_reach; dx <= correlation_reach; ++dx) {
      const double rho = lags[std::abs(dy)][std::abs(dx)] / lags[0][0];
      (*correlation)[lag_index(dx, dy)] = static_cast<float>(std::clamp(rho, -1.0, 1.0));
      white &= (dx == 0 && dy == 0) || std::abs(rho) < 1e-3;
    }
  (*correlation)[lag_index(0, 0)] = 1;
  if (!white) noise.correlation = std::move(correlation);
  return noise;
}

CoefficientTable table_of(const PlaneNoise& noise) {
  static const AxisTransform rows = dct_rows<8>();
  CoefficientTable table;
  const double variance = static_cast<double>(noise.sigma) * static_cast<double>(noise.sigma);
  if (noise.is_white()) {
    table.fill(static_cast<float>(variance));
    return table;
  }
  const PatchCovariance covariance(noise, rows);
  for (int k = 0; k < 64; ++k) table[k] = static_cast<float>(variance * covariance.at(0, 0)[k]);
  return table;
}

}  // namespace lull
