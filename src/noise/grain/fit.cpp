#include "noise/grain/fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "noise/grain/grain_curve.h"
#include "noise/grain/template_gain.h"

namespace lull {
namespace {

constexpr double max_gain = 10;         // a higher gain would clip the template of the grain
constexpr std::int64_t min_blocks = 4;  // minimum number of blocks to fit a filter

/// Returns the factor by which decoders reduce the correlation at the lag `distance` along one
/// axis, because decoders compose the grain of independent blocks. Blocks of 32 samples overlap by
/// 2 samples, which decoders blend with the weights 27 / 32 and 17 / 32. In subsampled planes,
/// blocks of 16 samples overlap by 1 sample, with the weights 23 / 32 and 22 / 32.
double retained(int distance, bool subsampled) {
  distance = std::abs(distance);
  if (distance == 0) return 1;
  if (subsampled) return distance == 1 ? 15.41 / 16 : (16.41 - distance) / 16;
  return distance == 1 ? 31.57 / 32 : (32.74 - distance) / 32;
}

/// Correlations of the grain of a plane, normalised to a variance of 1. The correlations of chroma
/// with luma are covariances divided by the standard deviations of chroma and of luma.
struct Correlations {
  std::array<double, pair_lags> pairs{};
  std::array<double, grain_taps> taps_with_luma{};
  double with_luma = 0, luma_square = 0;
  bool known = false;

  double at(int dx, int dy) const { return pairs[pair_index(dx, dy)]; }
};

Correlations correlations_of(const GrainStatistics& statistics, int plane) {
  const int w = statistics.block_width(plane), h = statistics.block_height(plane);
  const int luma_samples = statistics.block_width(0) * statistics.block_height(0);
  const bool sub_x = plane > 0 && statistics.format().chroma_shift_x > 0;
  const bool sub_y = plane > 0 && statistics.format().chroma_shift_y > 0;
  const double rounding = rounding_variance(statistics.format());
  const double minimum = min_grain * min_grain * grain_unit * grain_unit;
  Correlations found;
  double blocks = 0;
  for (int c = 0; c < GrainStatistics::classes; ++c) {
    const auto n = static_cast<double>(statistics.blocks()[c]);
    if (n == 0) continue;
    const auto variance_of = [&](int i, int samples) {
      const auto& sums = statistics.plane(i).products[c].pairs;
      return static_cast<double>(sums[pair_index(0, 0)]) / (n * samples) - rounding;
    };
    const double variance = variance_of(plane, w * h), luma = variance_of(0, luma_samples);
    if (variance < minimum) continue;
    blocks += n;
    const auto& products = statistics.plane(plane).products[c];
    const auto mean = [&](std::int64_t sum, int dx, int dy) {
      const int pairs = (w - std::abs(dx)) * (h - std::abs(dy));
      const double left = retained(dx, sub_x) * retained(dy, sub_y);
      return pairs > 0 && w > std::abs(dx) ? static_cast<double>(sum) / (pairs * left) : 0;
    };
    for (int dy = 0; dy <= std::min(grain_lag, h - 1); ++dy)
      for (int dx = dy == 0 ? 1 : -pair_reach; dx <= pair_reach; ++dx)
        found.pairs[pair_index(dx, dy)] +=
            mean(products.pairs[pair_index(dx, dy)], dx, dy) / variance;
    if (plane == 0 || luma < minimum) continue;
    const double both = std::sqrt(variance * luma);
    for (int tap = 0; tap < grain_taps; ++tap)
      found.taps_with_luma[tap] +=
          mean(products.taps_with_luma[tap], tap_dx(tap), tap_dy(tap)) / both;
    found.with_luma += mean(products.with_luma, 0, 0) / both;
    found.luma_square += mean(products.luma_squares, 0, 0) / luma;
  }
  found.known = blocks >= min_blocks;
  if (!found.known) return found;
  // `scale` converts a sum over all blocks to a correlation: it divides the sum by the number of
  // blocks, and clamps the quotient to magnitudes below 1.
  const auto scale = [&](double& sum) { sum = std::clamp(sum / blocks, -0.98, 0.98); };
  for (double& pair : found.pairs) scale(pair);
  for (double& tap : found.taps_with_luma) scale(tap);
  scale(found.with_luma);
  found.luma_square = std::max(found.luma_square / blocks, 0.02);
  found.pairs[pair_index(0, 0)] = 1;
  return found;
}

/// Replaces the measured autocorrelation by the autocorrelation of the known noise, because the
/// removed noise lacks the lowest frequencies, which denoising preserves.
void use_known(const PlaneNoise& noise, bool sub_x, bool sub_y, Correlations& found) {
  if (!found.known || noise.sigma == 0 || noise.is_white()) return;
  for (int dy = 0; dy <= grain_lag; ++dy)
    for (int dx = dy == 0 ? 1 : -pair_reach; dx <= pair_reach; ++dx)
      found.pairs[pair_index(dx, dy)] = std::clamp(
          noise.correlation_at(dx, dy) / (retained(dx, sub_x) * retained(dy, sub_y)), -0.98, 0.98);
}

struct Filter {
  std::vector<double> x;  // filter taps, and for chroma optionally the share of luma's grain
  std::vector<double> a;  // matrix of the normal equations
  double innovation = 1;  // variance of the prediction error
};

/// Solves A x = b by Cholesky decomposition. Returns false if A is not positive definite.
bool solve(const std::vector<double>& a, std::vector<double>& x) {
  const auto n = static_cast<int>(x.size());
  std::vector<double> l = a;
  const auto at = [&](int i, int j) -> double& { return l[static_cast<std::size_t>(i) * n + j]; };
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      double sum = at(i, j);
      for (int k = 0; k < j; ++k) sum -= at(i, k) * at(j, k);
      if (i == j && !(sum > 1e-9)) return false;
      at(i, j) = i == j ? std::sqrt(sum) : sum / at(j, j);
    }
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < i; ++k) x[i] -= at(i, k) * x[k];
    x[i] /= at(i, i);
  }
  for (int i = n - 1; i >= 0; --i) {
    for (int k = i + 1; k < n; ++k) x[i] -= at(k, i) * x[k];
    x[i] /= at(i, i);
  }
  return true;
}

/// Solves the normal equations of a filter. The function adds `ridge` to the diagonal of their
/// matrix, because the matrix of measured correlations is sometimes not positive definite.
std::optional<Filter> filter_of(const Correlations& r, bool with_luma, double ridge) {
  Filter filter;
  const int n = grain_taps + (with_luma ? 1 : 0);
  filter.a.assign(static_cast<std::size_t>(n) * n, 0);
  filter.x.assign(n, 0);
  const auto a = [&](int i, int j) -> double& {
    return filter.a[static_cast<std::size_t>(i) * n + j];
  };
  for (int i = 0; i < grain_taps; ++i) a(i, i) = ridge;
  if (with_luma) a(grain_taps, grain_taps) = 1e-4;
  if (!r.known) return filter;
  std::vector<double> b(n);
  for (int i = 0; i < grain_taps; ++i) {
    for (int j = 0; j < grain_taps; ++j)
      a(i, j) += r.at(tap_dx(i) - tap_dx(j), tap_dy(i) - tap_dy(j));
    b[i] = r.at(tap_dx(i), tap_dy(i));
    if (with_luma) a(i, grain_taps) = a(grain_taps, i) = r.taps_with_luma[i];
  }
  if (with_luma) {
    a(grain_taps, grain_taps) += r.luma_square;
    b[grain_taps] = r.with_luma;
  }
  filter.x = b;
  if (!solve(filter.a, filter.x)) return std::nullopt;
  for (int i = 0; i < n; ++i) filter.innovation -= b[i] * filter.x[i];
  if (!(filter.innovation > 1e-3)) return std::nullopt;
  return filter;
}

/// Rounds the filter coefficients to multiples of `units`. A local search finds the rounded
/// coefficients with the least prediction error. Rounding each coefficient to nearest would change
/// the low frequencies of the grain.
std::vector<int> quantised(const Filter& filter, const std::vector<double>& units) {
  const auto n = static_cast<int>(units.size());
  const auto a = [&](int i, int j) { return filter.a[static_cast<std::size_t>(i) * n + j]; };
  std::vector<int> rounded(n);
  std::vector<double> gradient(n);
  for (int i = 0; i < n; ++i)
    rounded[i] = std::clamp(static_cast<int>(std::lround(filter.x[i] / units[i])), -128, 127);
  for (int move = 0; move < 400; ++move) {
    for (int i = 0; i < n; ++i) {
      gradient[i] = 0;
      for (int j = 0; j < n; ++j) gradient[i] += a(i, j) * (rounded[j] * units[j] - filter.x[j]);
    }
    double best = -1e-12;
    int best_i = 0, best_j = 0, up_i = 0, up_j = 0;
    const auto may = [&](int i, int up) {
      return rounded[i] + up >= -128 && rounded[i] + up <= 127;
    };
    for (int i = 0; i < n; ++i)
      for (const int up : {-1, 1}) {
        if (!may(i, up)) continue;
        const double d = up * units[i], alone = d * (2 * gradient[i] + d * a(i, i));
        if (alone < best) best = alone, best_i = i, up_i = up, up_j = 0;
        for (int j = 0; j < i; ++j)
          for (const int other : {-1, 1}) {
            const double e = other * units[j];
            const double both = alone + e * (2 * gradient[j] + e * a(j, j) + 2 * d * a(i, j));
            if (both < best && may(j, other))
              best = both, best_i = i, up_i = up, best_j = j, up_j = other;
          }
      }
    if (up_i == 0) break;
    rounded[best_i] += up_i;
    rounded[best_j] += up_j;
    if (best > -1e-12) break;
  }
  return rounded;
}

/// Sets the filter coefficients. Their common unit is a power of 2, at most 2^-6. The function
/// chooses the smallest unit for which all coefficients are in range.
void set_filters(const std::array<Filter, 3>& filters, int planes, GrainParams& grain) {
  // The filter of a chroma plane has a coefficient for the grain of luma. In the fit, the grain of
  // all planes has the same variance. In a decoder, the prediction errors of all planes have the
  // same variance. `factor` converts the coefficient from the fit to the decoder.
  const auto factor = [&](int plane) {
    return std::sqrt(filters[0].innovation / filters[plane].innovation);
  };
  double maximum = 0;
  for (int i = 0; i < planes; ++i)
    for (std::size_t k = 0; k < filters[i].x.size(); ++k)
      maximum = std::max(maximum, std::abs(filters[i].x[k]) * (k < grain_taps ? 1 : factor(i)));
  grain.ar_coeff_shift = 9;
  while (grain.ar_coeff_shift > 6 && std::ldexp(maximum, grain.ar_coeff_shift) > 126)
    --grain.ar_coeff_shift;
  for (int i = 0; i < planes; ++i) {
    std::vector<double> units(filters[i].x.size(), std::ldexp(1, -grain.ar_coeff_shift));
    if (units.size() > grain_taps) units.back() /= factor(i);
    const std::vector<int> rounded = quantised(filters[i], units);
    std::copy_n(rounded.begin(), std::min<std::size_t>(rounded.size(), grain_taps),
                grain.ar_coeffs[i].begin());
    grain.luma_coeff[i] = rounded.size() > grain_taps ? rounded.back() : 0;
  }
}

/// Returns the sum of squared differences between the correlations `wanted` and `found`, over all
/// lags of the autoregressive filters.
double mismatch(const Correlations& wanted, const std::array<double, pair_lags>& found) {
  if (!wanted.known) return 0;
  double sum = 0;
  for (int dy = 0; dy <= grain_lag; ++dy)
    for (int dx = dy == 0 ? 1 : -grain_lag; dx <= grain_lag; ++dx) {
      const double off = wanted.at(dx, dy) - found[pair_index(dx, dy)];
      sum += off * off;
    }
  return sum;
}

/// Fits the filters of planes with grain. A filter must be stable, and its grain must fit the range
/// of the template. The function tries several sets of filters, and chooses the set whose grain has
/// the correlations closest to the wanted correlations.
TemplateGain fit_filters(const GrainStatistics& statistics, const NoiseModel* known,
                         const std::array<bool, 3>& grainy, GrainParams& grain) {
  const FrameFormat& format = statistics.format();
  const int planes = format.planes();
  std::array<Correlations, 3> wanted;
  for (int i = 0; i < planes; ++i) {
    if (!grainy[i]) continue;
    wanted[i] = correlations_of(statistics, i);
    if (known)
      use_known(known->plane(i), i > 0 && format.chroma_shift_x > 0,
                i > 0 && format.chroma_shift_y > 0, wanted[i]);
  }
  TemplateGain best;
  double minimum = std::numeric_limits<double>::infinity();
  GrainParams tried = grain;
  for (const double ridge : {0.002, 0.006, 0.02, 0.06, 0.2, 0.6, 2.0}) {
    std::array<Filter, 3> filters;
    bool solved = true;
    for (int i = 0; i < planes && solved; ++i) {
      const auto filter = filter_of(wanted[i], i > 0 && grainy[i] && grainy[0], ridge);
      solved = filter.has_value();
      if (solved) filters[i] = *filter;
    }
    if (!solved) continue;
    set_filters(filters, planes, tried);
    const TemplateGain found =
        template_gain(tried, planes, format.chroma_shift_x, format.chroma_shift_y);
    if (!found.stable || *std::ranges::max_element(found.gain) > max_gain) continue;
    double off = 0;
    for (int i = 0; i < planes; ++i) off += mismatch(wanted[i], found.correlation[i]);
    if (off < minimum) minimum = off, best = found, grain = tried;
  }
  return best;
}

/// Returns the standard deviation of a plane's template, in 8-bit steps. Decoders filter white
/// noise of the level 32 / 2^grain_scale_shift, and round twice.
double template_sigma(const FrameFormat& format, double gain, int grain_scale_shift) {
  const double white = std::ldexp(32, -grain_scale_shift);
  const double step = std::ldexp(1, 8 - std::clamp(format.bits, 8, 12));
  return gain * std::sqrt(white * white + step * step / 6);
}

double value_at(const GrainCurve& knots, double at) {
  if (at <= knots.front().at) return knots.front().sigma;
  for (std::size_t i = 1; i < knots.size(); ++i)
    if (at <= knots[i].at) {
      const double share = (at - knots[i - 1].at) / (knots[i].at - knots[i - 1].at);
      return knots[i - 1].sigma + share * (knots[i].sigma - knots[i - 1].sigma);
    }
  return knots.back().sigma;
}

/// Approximates a grain curve by a piecewise linear curve through at most `maximum` of its points.
/// The function adds points until the deviation is at most 2 %.
GrainCurve knots_of(const GrainCurve& curve, int maximum) {
  GrainCurve knots{curve.front()};
  if (curve.size() > 1) knots.push_back(curve.back());
  while (static_cast<int>(knots.size()) < maximum) {
    double worst = 0.02;
    const GrainLevel* farthest = nullptr;
    for (const GrainLevel& point : curve) {
      const double off =
          std::abs(value_at(knots, point.at) - point.sigma) / std::max(point.sigma, min_grain);
      if (off > worst) worst = off, farthest = &point;
    }
    if (!farthest) break;
    knots.insert(std::ranges::upper_bound(knots, farthest->at, {}, &GrainLevel::at), *farthest);
  }
  return knots;
}

}  // namespace

std::optional<GrainParams> fit_grain(const GrainStatistics& statistics, const KnownGrain* known) {
  const FrameFormat& format = statistics.format();
  std::array<GrainCurve, 3> curves;
  std::array<bool, 3> grainy{};
  for (int i = 0; i < format.planes(); ++i) {
    curves[i] = removed_curve(statistics, i);
    if (known)
      curves[i] = known_curve(curves[i], statistics, known->all, i, known->noise.by_luma[i]);
    grainy[i] = has_grain(curves[i]);
  }
  if (std::ranges::none_of(grainy, std::identity{})) return std::nullopt;
  GrainParams grain;
  const TemplateGain gain =
      fit_filters(statistics, known ? &known->noise.noise : nullptr, grainy, grain);
  const double maximum = *std::ranges::max_element(gain.gain);
  while (grain.grain_scale_shift < 3 &&
         template_sigma(format, maximum, grain.grain_scale_shift) > 40)  // samples end at 127
    ++grain.grain_scale_shift;

  double strongest = 0;  // maximum value of a scaling function
  std::array<double, 3> sigmas{};
  for (int i = 0; i < format.planes(); ++i) {
    sigmas[i] = template_sigma(format, gain.gain[i], grain.grain_scale_shift);
    for (const GrainLevel& point : curves[i])
      strongest = std::max(strongest, grainy[i] ? point.sigma / sigmas[i] : 0);
  }
  grain.scaling_shift = 11;
  while (grain.scaling_shift > 8 && std::ldexp(strongest, grain.scaling_shift) > 255)
    --grain.scaling_shift;
  for (int i = 0; i < format.planes(); ++i) {
    // In 4:2:0, AV1 has this rule: if one chroma plane has a scaling function, luma and the other
    // chroma plane must also have one. A plane without grain therefore gets a scaling function that
    // is 0 everywhere.
    if (!grainy[i]) {
      grain.points[i] = {{0, 0}, {255, 0}};
      continue;
    }
    for (const GrainLevel& knot : knots_of(curves[i], GrainParams::max_points[i])) {
      const double scale = std::ldexp(knot.sigma / sigmas[i], grain.scaling_shift);
      grain.points[i].push_back(
          {static_cast<int>(knot.at), static_cast<int>(std::lround(std::min(scale, 255.0)))});
    }
  }
  return grain;
}

}  // namespace lull
