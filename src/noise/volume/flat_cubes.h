#pragma once
// Noise levels of flat cubes (without structure) and of cubes of air.

// The estimator selects flat cubes by their low frequencies, and measures the noise of these cubes
// at high frequencies. This separation avoids a selection bias, because low and high frequencies of
// white noise are independent.

#include <span>
#include <vector>

#include "noise/volume/cube_statistics.h"

namespace lull {

using Cubes = std::vector<const CubeStatistics*>;

/// Returns the quantile of the values at `share` (0 to 1), or 0 if there are no values.
[[nodiscard]] double quantile(std::vector<double> values, double share);
/// Returns the median of the values. If there are two middle values, returns the greater of the
/// two. Returns 0 if there are no values.
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
  // The measured cubes. Empty: too few flat cubes.
  Cubes cubes;
};

/// Measures the noise level at the high frequencies of flat cubes. A cube is flat if its
/// low-frequency energy is as low as the low-frequency energy of noise. The result is empty if
/// fewer than `min_count` cubes are flat.
[[nodiscard]] FlatLevel flat_level(const Cubes& cubes, std::size_t min_count);
/// Measures the noise level at the high frequencies of the `count` cubes that have the least energy
/// at low frequencies.
[[nodiscard]] FlatLevel flattest_level(Cubes cubes, std::size_t count);

/// Returns the cubes that are neither clipped nor in the surroundings of a masked object.
[[nodiscard]] Cubes valid_cubes(const CubeCollector& collector);

/// Returns the cubes of air, whose samples have the moments of a Rayleigh distribution of any
/// scale. Empty: too few cubes.
[[nodiscard]] Cubes find_air(const Cubes& cubes, double zero);
/// Returns sigma^2 from the 20 % of the cubes of air with the lowest variance. The remaining cubes
/// may be dark tissue.
[[nodiscard]] double air_variance(const Cubes& air, double zero);

}  // namespace lull
