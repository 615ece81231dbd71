#include "noise/volume/rician.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "core/bases.h"

namespace lull {
namespace {

/// Returns exp(-x) * I0(x). I0 is the modified Bessel function of order 0. The function uses the
/// power series below x = 20, and the asymptotic series (Abramowitz and Stegun, 9.7.1) above.
double scaled_i0(double x) {
  if (x < 20) return bessel_i0(x) * std::exp(-x);
  double sum = 1, term = 1;
  for (int k = 1; k <= 6; ++k) {
    const double odd = 2 * k - 1;
    term *= odd * odd / (8 * x * k);
    sum += term;
  }
  return sum / std::sqrt(2 * std::numbers::pi * x);
}

/// Returns the probability density of a Rician sample z with the true value v, divided by z.
double density_over_z(double z, double v) {
  return std::exp(-(z - v) * (z - v) / 2) * scaled_i0(z * v);
}

float root(float v) { return std::sqrt(v); }

// Step and half-width of the trapezoidal rule. For Rician densities, the error of the rule is as
// small as rounding errors.
constexpr double step = 1.0 / 16, reach = 8.5;

/// Returns E[f(z) | v] for Rician samples z. The integration variable is u = f(z), because the
/// integrand is smooth in u.
double expected_root(double v) {
  double sum = 0;
  const int last = static_cast<int>((v + reach) / step);
  const int first = std::max(0, static_cast<int>((v - reach) / step));
  for (int k = first; k <= last; ++k) {
    const double u = k * step;
    sum += u * u * density_over_z(std::sqrt(u * u + 0.5), v);
  }
  return sum * step;
}

double expected_sample(double v) {
  double sum = 0;
  for (int k = std::max(0, static_cast<int>((v - reach) / step)); k * step <= v + reach; ++k) {
    const double z = k * step;
    sum += z * z * density_over_z(z, v);
  }
  return sum * step;
}

/// Returns the argument v for which an increasing function has the value `value`, by linear
/// interpolation. `of_v` contains the values of the function at v = 0, spacing, 2 * spacing, ...
double argument_at(const std::vector<double>& of_v, double spacing, double value) {
  const auto above = std::ranges::upper_bound(of_v, value);
  if (above == of_v.begin()) return 0;
  if (above == of_v.end()) return spacing * static_cast<double>(of_v.size() - 1);
  const auto k = static_cast<double>(above - of_v.begin());
  return spacing * (k - (*above - value) / (*above - above[-1]));
}

/// The variance of Rician samples, their mean, and the ratio of the mean to the standard deviation,
/// for equally spaced true values.
struct VarianceTable {
  std::vector<double> ratio, mean, variance;
  VarianceTable() {
    for (double v = 0; v <= 8; v += 0.05) {
      mean.push_back(expected_sample(v));
      variance.push_back(2 + v * v - mean.back() * mean.back());
      ratio.push_back(mean.back() / std::sqrt(variance.back()));
    }
  }

  /// Returns the variance that belongs to a ratio or to a mean, by linear interpolation. `of` is
  /// the list `ratio` or `mean`, and `value` is the given ratio or mean.
  double at(const std::vector<double>& of, double value) const {
    const auto above = std::ranges::upper_bound(of, value);
    if (above == of.begin()) return variance.front();
    if (above == of.end()) return 1;
    const std::size_t k = above - of.begin();
    const double share = (value - of[k - 1]) / (of[k] - of[k - 1]);
    return std::lerp(variance[k - 1], variance[k], share);
  }
};

const VarianceTable& variance_table() {
  static const VarianceTable table;
  return table;
}

/// Returns the variance of the expectations z I1(z v) / I0(z v) over Rician samples z.
double variance_of_expectations(double v) {
  double sum = 0, squares = 0;
  for (int k = std::max(0, static_cast<int>((v - reach) / step)); k * step <= v + reach; ++k) {
    const double z = k * step;
    const double expectation = rician_expectation(z, v), density = z * density_over_z(z, v);
    sum += expectation * density;
    squares += expectation * expectation * density;
  }
  return step * squares - step * sum * step * sum;
}

/// The Fisher information for equally spaced true values.
struct InformationTable {
  static constexpr double spacing = 0.05, end = 8;
  std::vector<double> values;
  InformationTable() {
    for (int i = 0; i * spacing <= end; ++i)
      values.push_back(variance_of_expectations(i * spacing));
  }
};

}  // namespace

RicianStabiliser::RicianStabiliser(double shrink_range) {
  constexpr int knots = RicianInverse::knots;
  constexpr float end = RicianInverse::end;
  constexpr double spacing = 0.0125;
  std::vector<double> roots;  // square roots of E[f(z) | v] - E[f(z) | 0]
  const double zero = expected_root(0);
  for (double v = 0; v <= static_cast<double>(end) + 1; v += spacing)
    roots.push_back(std::sqrt(std::max(expected_root(v) - zero, 0.0)));
  const double last = std::sqrt(static_cast<double>(end) - zero);
  for (int k = 0; k <= knots; ++k) {
    const double root = last * k / knots;
    const double sure = shrink_range > 0 ? std::min(root * root / shrink_range, 1.0) : 1;
    table_[k] =
        static_cast<float>(argument_at(roots, spacing, root) * sure * sure * (3 - 2 * sure));
  }
  inverse_.of_zero = static_cast<float>(zero);
  inverse_.scale = static_cast<float>(knots / last);
  // Beyond the table, the inverse of d = E[f(z) | v] is v = d - 1 / (4 * d) - c / d^3. The constant
  // c (`third`) makes the inverse continuous at the end of the table.
  inverse_.third = (end - 1 / (4 * end) - table_[knots]) * end * end * end;
}

RicianInverse RicianStabiliser::inverse() const {
  RicianInverse inverse = inverse_;
  inverse.table = table_.data();
  return inverse;
}

float RicianStabiliser::forward(float z) { return rician_root(z, root); }

float RicianStabiliser::inverse(float d) const { return inverse()(d, root); }

double rician_expectation(double z, double v) {
  const double x = z * v;
  if (x > 12) {  // asymptotic series of I1(x) / I0(x), accurate to 1e-7 for such x
    const double r = 1 / x;
    return z * (1 - r * (1.0 / 2 + r * (1.0 / 8 + r * (1.0 / 8 + r * (25.0 / 128 + r * 13 / 32)))));
  }
  // Continued fraction of I1(x) / I0(x): x / (2 + x^2 / (4 + x^2 / (6 + ...))).
  constexpr int terms = 24;
  double rest = 2 * terms;
  for (int k = terms - 1; k >= 1; --k) rest = 2 * k + x * x / rest;
  return z * x / rest;
}

double rician_information(double v) {
  static const InformationTable table;
  // For a strong signal, the information is 1 - 1 / (2 v^2), up to terms of higher order.
  if (v >= InformationTable::end - InformationTable::spacing) return 1 - 1 / (2 * v * v);
  const double place = std::max(v, 0.0) / InformationTable::spacing;
  const auto below = static_cast<std::size_t>(place);
  return std::lerp(table.values[below], table.values[below + 1],
                   place - static_cast<double>(below));
}

double rician_variance(double ratio) { return variance_table().at(variance_table().ratio, ratio); }

double rician_variance_at_mean(double mean) {
  return variance_table().at(variance_table().mean, mean);
}

}  // namespace lull
