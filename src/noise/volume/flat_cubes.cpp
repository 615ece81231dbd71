#include "noise/volume/flat_cubes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "noise/volume/rician.h"

namespace lull {
namespace {

/// Median of the distribution of the mean of 8 squared standard normal values.
constexpr double median_of_squares = 0.9180;
/// Maximum mean energy of the 19 low coefficients of a flat cube, in units of the noise variance.
constexpr double explained = 1.15;
constexpr int max_rounds = 30;
constexpr double settled = 1e-3;  // relative change of the variance that ends the iteration
/// A value counts as a fill value (mask, padding, clipping) if it fills at least this share of all
/// cubes.
constexpr double share_of_fill = 0.005;
/// The estimator ignores cubes in which more than `max_filled` voxels have a fill value.
constexpr int max_filled = 1;
/// A cube is clipped if more than `max_clipped` of its voxels have the same value, and this value
/// is the minimum or the maximum of the volume. The estimator ignores clipped cubes.
constexpr int max_clipped = 6;

// Limits for cubes of air: the ratio of mean to standard deviation, and the skewness. In a head
// volume, the ratio is 1.80 to 1.99, and the skewness is 0.48 to 0.66.
constexpr double bin_width = 0.14;  // width of a bin, in logarithms of the mean
constexpr std::size_t min_in_bin = 50;
constexpr double min_ratio = 1.72, max_ratio = 2.12;
constexpr double min_skewness = 0.35, max_skewness = 0.85;
// Maximum ratio of low-frequency to high-frequency energy in cubes of air, which have no structure.
constexpr double max_slope = 4;
constexpr double max_excess = 1.6;  // variance of a cube in units of that of air with its mean
constexpr std::size_t min_air = 200;
constexpr double min_share_of_air = 0.005;

double high(const CubeStatistics& cube) { return static_cast<double>(cube.high); }
double total_variance(const CubeStatistics& cube) { return static_cast<double>(cube.variance); }

bool is_air(const Cubes& bin, double zero) {
  if (bin.size() < min_in_bin) return false;
  const double variance = median_of(bin, total_variance);
  const double mean = median_of(bin, [](const CubeStatistics& c) { return c.mean; }) - zero;
  const double third = median_of(bin, [](const CubeStatistics& c) { return c.third; });
  const double low = median_of(bin, [](const CubeStatistics& c) { return c.low; });
  const double ratio = mean / std::sqrt(variance), skewness = third / std::pow(variance, 1.5);
  return ratio > min_ratio && ratio < max_ratio && skewness > min_skewness &&
         skewness < max_skewness && low < max_slope * median_of(bin, high);
}

}  // namespace

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto place = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size()));
  std::ranges::nth_element(values, values.begin() + place);
  return values[static_cast<std::size_t>(place)];
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

FlatLevel flat_level(const Cubes& cubes, std::size_t min_count) {
  FlatLevel level{.variance = median_of(cubes, high) / median_of_squares, .cubes = {}};
  for (int round = 0; round < max_rounds; ++round) {
    level.cubes.clear();
    for (const CubeStatistics* cube : cubes)
      if (static_cast<double>(cube->low) <= explained * level.variance) level.cubes.push_back(cube);
    if (level.cubes.size() < std::max<std::size_t>(min_count, 1)) return {};
    const double before = level.variance;
    level.variance = median_of(level.cubes, high) / median_of_squares;
    if (std::abs(level.variance - before) <= settled * before) break;
  }
  return level;
}

FlatLevel flattest_level(Cubes cubes, std::size_t count) {
  count = std::min(count, cubes.size());
  if (count == 0) return {};
  // A stable sort gives the same result on every machine.
  std::ranges::stable_sort(cubes, {}, [](const CubeStatistics* cube) { return cube->low; });
  cubes.resize(count);
  const double variance = median_of(cubes, high) / median_of_squares;
  return {.variance = variance, .cubes = std::move(cubes)};
}

Cubes valid_cubes(const CubeCollector& collector) {
  const double min_count = share_of_fill * static_cast<double>(collector.examined());
  Cubes valid;
  for (const CubeStatistics& cube : collector.cubes()) {
    const auto constant = collector.constant_values().find(cube.common);
    const bool filled = cube.common_count > max_filled &&
                        constant != collector.constant_values().end() &&
                        static_cast<double>(constant->second) >= min_count;
    const bool at_end =
        cube.common == collector.min_value() || cube.common == collector.max_value();
    if (!filled && !(at_end && cube.common_count > max_clipped)) valid.push_back(&cube);
  }
  return valid;
}

Cubes find_air(const Cubes& cubes, double zero) {
  std::map<int, Cubes> bins;
  std::size_t negative = 0;
  for (const CubeStatistics* cube : cubes) {
    const double mean = static_cast<double>(cube->mean) - zero;
    if (mean > 0)
      bins[static_cast<int>(std::floor(std::log(mean) / bin_width))].push_back(cube);
    else
      ++negative;
  }
  constexpr double max_negative = 0.001;
  if (static_cast<double>(negative) > max_negative * static_cast<double>(cubes.size())) return {};
  Cubes air;
  for (const auto& [logarithm, bin] : bins) {
    if (!is_air(bin, zero)) continue;
    for (const CubeStatistics* cube : bin) {
      const double deviation = (static_cast<double>(cube->mean) - zero) / rayleigh_ratio;
      if (total_variance(*cube) < max_excess * deviation * deviation) air.push_back(cube);
    }
  }
  const double min_count = min_share_of_air * static_cast<double>(cubes.size());
  if (air.size() < min_air || static_cast<double>(air.size()) < min_count) return {};
  return air;
}

double air_variance(const Cubes& air, double zero) {
  // For each cube of air, `variances` contains half the mean square of its 64 voxels, which has a
  // Gamma distribution with the shape 64 and the mean sigma^2.
  std::vector<double> variances;
  for (const CubeStatistics* cube : air) {
    const double mean = static_cast<double>(cube->mean) - zero;
    variances.push_back((mean * mean + total_variance(*cube)) / 2);
  }
  constexpr double share = 0.2, quantile_of_gamma = 0.8939;
  return quantile(std::move(variances), share) / quantile_of_gamma;
}

}  // namespace lull
