#pragma once
// Noise levels of flat cubes, which contain no structure, and of cubes of air.
//
// The code selects flat cubes by their low frequencies and measures the noise level at their high
// frequencies. The coefficients of white noise are independent, so the selection does not bias the
// level.

#include <span>
#include <vector>

#include "noise/volume/cube_statistics.h"

namespace lull {

using Cubes = std::vector<const CubeStatistics*>;

/// Returns the value below which the share `share` of the values lies; 0 if there are no values.
[[nodiscard]] double quantile(std::vector<double> values, double share);
/// Returns the median, or the upper of the two middle values; 0 if there are no values.
[[nodiscard]] double median(std::vector<double> values);
template <class Value>
[[nodiscard]] double median_of(const Cubes& cubes, const Value& value) {
  std::vector<double> values;
  values.reserve(cubes.size());
  for (const CubeStatistics* cube : cubes) values.push_back(static_cast<double>(value(*cube)));
  return median(std::move(values));
}

struct FlatLevel {
  double variance = 0;  // variance of the samples
  // The cubes in which the variance was measured; empty if too few cubes were flat.
  Cubes cubes;
};

/// Returns the noise level in the flat cubes among `cubes`. A cube is flat if its energy at low
/// frequencies can be explained by noise of the level measured at high frequencies. The result is
/// empty if fewer than `min_count` cubes are flat.
[[nodiscard]] FlatLevel flat_level(const Cubes& cubes, std::size_t min_count);
/// Selects the `count` cubes with the lowest energy at low frequencies, and returns the noise level
/// that is measured at their high frequencies.
[[nodiscard]] FlatLevel flattest_level(Cubes cubes, std::size_t count);

/// Returns the cubes that are neither clipped nor in the surroundings of a masked object.
[[nodiscard]] Cubes valid_cubes(const CubeCollector& collector);

/// Returns the cubes of air: their samples have the mean, the deviation and the skewness of a
/// Rayleigh distribution of any scale. The result is empty if there are too few such cubes.
[[nodiscard]] Cubes find_air(const Cubes& cubes, double zero);
/// Returns sigma^2 of the noise in cubes of air. The function uses only the fifth of the cubes with
/// the lowest variance, because the others may be dark tissue, which looks like air with a larger
/// sigma.
[[nodiscard]] double air_variance(const Cubes& air, double zero);

}  // namespace lull
