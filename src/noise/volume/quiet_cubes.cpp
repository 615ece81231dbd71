#include "noise/volume/quiet_cubes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "noise/volume/rician.h"

namespace lull {
namespace {

/// The median of a mean of 8 squares of standard normal numbers.
constexpr double median_of_squares = 0.9180;
/// Cubes are quiet up to this mean energy of the 19 low coefficients, in units of the variance.
constexpr double explained = 1.15;
constexpr int most_rounds = 30;
constexpr double settled = 1e-3;  // a change of variance that ends the rounds
/// Values of which so many of all cubes consist wholly are no samples: a mask, padding, clipping.
constexpr double share_of_fill = 0.005;
/// A cube with more voxels of such a value is not asked.
constexpr int most_filled = 1;
/// Nor one with more voxels at an end of the range: they are clipped.
constexpr int most_clipped = 6;

// What bins of cubes of about the same mean have in air. Measured on a head with Rician noise of
// 1, 3 and 9 %, even and varying by a factor of 2: ratio 1.80 to 1.99 and skewness 0.48 to 0.66 in
// bins of air; noise that is Gaussian has no skewness, and cubes with edges have a ratio below 1.3.
constexpr double bin_width = 0.14;  // of the logarithm of the mean
constexpr std::size_t least_in_bin = 50;
constexpr double least_ratio = 1.72, greatest_ratio = 2.12;
constexpr double least_skewness = 0.35, greatest_skewness = 0.85;
constexpr double greatest_slope = 4;     // energy of low over that of high frequencies: it is flat
constexpr double greatest_excess = 1.6;  // of a cube's variance over that of air of its mean
constexpr std::size_t least_air = 200;
constexpr double least_share_of_air = 0.005;

double high(const CubeStatistics& cube) { return static_cast<double>(cube.high); }
double whole(const CubeStatistics& cube) { return static_cast<double>(cube.whole); }

bool is_air(const Cubes& bin, double zero) {
  if (bin.size() < least_in_bin) return false;
  const double variance = median_of(bin, whole);
  const double mean = median_of(bin, [](const CubeStatistics& c) { return c.mean; }) - zero;
  const double third = median_of(bin, [](const CubeStatistics& c) { return c.third; });
  const double low = median_of(bin, [](const CubeStatistics& c) { return c.low; });
  const double ratio = mean / std::sqrt(variance), skewness = third / std::pow(variance, 1.5);
  return ratio > least_ratio && ratio < greatest_ratio && skewness > least_skewness &&
         skewness < greatest_skewness && low < greatest_slope * median_of(bin, high);
}

}  // namespace

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto place = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size()));
  std::ranges::nth_element(values, values.begin() + place);
  return values[static_cast<std::size_t>(place)];
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

QuietLevel quiet_level(const Cubes& cubes, std::size_t least) {
  QuietLevel level{.variance = median_of(cubes, high) / median_of_squares, .cubes = {}};
  for (int round = 0; round < most_rounds; ++round) {
    level.cubes.clear();
    for (const CubeStatistics* cube : cubes)
      if (static_cast<double>(cube->low) <= explained * level.variance) level.cubes.push_back(cube);
    if (level.cubes.size() < std::max<std::size_t>(least, 1)) return {};
    const double before = level.variance;
    level.variance = median_of(level.cubes, high) / median_of_squares;
    if (std::abs(level.variance - before) <= settled * before) break;
  }
  return level;
}

QuietLevel quietest(Cubes cubes, std::size_t count) {
  count = std::min(count, cubes.size());
  if (count == 0) return {};
  // (By place where they are equal, so that the same ones are taken everywhere.)
  std::ranges::stable_sort(cubes, {}, [](const CubeStatistics* cube) { return cube->low; });
  cubes.resize(count);
  const double variance = median_of(cubes, high) / median_of_squares;
  return {.variance = variance, .cubes = std::move(cubes)};
}

Cubes valid_cubes(const CubeCollector& collector) {
  const double least = share_of_fill * static_cast<double>(collector.seen());
  Cubes valid;
  for (const CubeStatistics& cube : collector.cubes()) {
    const auto flat = collector.flat().find(cube.common);
    const bool filled = cube.commons > most_filled && flat != collector.flat().end() &&
                        static_cast<double>(flat->second) >= least;
    const bool at_end = cube.common == collector.least() || cube.common == collector.greatest();
    if (!filled && !(at_end && cube.commons > most_clipped)) valid.push_back(&cube);
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
  constexpr double most_negative = 0.001;
  if (static_cast<double>(negative) > most_negative * static_cast<double>(cubes.size())) return {};
  Cubes air;
  for (const auto& [logarithm, bin] : bins) {
    if (!is_air(bin, zero)) continue;
    for (const CubeStatistics* cube : bin) {
      const double deviation = (static_cast<double>(cube->mean) - zero) / rayleigh_ratio;
      if (whole(*cube) < greatest_excess * deviation * deviation) air.push_back(cube);
    }
  }
  const double least = least_share_of_air * static_cast<double>(cubes.size());
  if (air.size() < least_air || static_cast<double>(air.size()) < least) return {};
  return air;
}

double air_variance(const Cubes& air, double zero) {
  std::vector<double> variances;  // half the mean square of 64 voxels: Gamma with a shape of 64
  for (const CubeStatistics* cube : air) {
    const double mean = static_cast<double>(cube->mean) - zero;
    variances.push_back((mean * mean + whole(*cube)) / 2);
  }
  constexpr double share = 0.2, quantile_of_gamma = 0.8939;
  return quantile(std::move(variances), share) / quantile_of_gamma;
}

}  // namespace lull
