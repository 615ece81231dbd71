#pragma once
// What cubes say of noise: the quiet ones among them, and those of air.
//
// Cubes are chosen by their low frequencies and measured by their high ones. White noise is
// independent from coefficient to coefficient, so that choosing quiet cubes makes no level too low.

#include <span>
#include <vector>

#include "noise/volume/cube_statistics.h"

namespace lull {

using Cubes = std::vector<const CubeStatistics*>;

/// The value below which this share of the values is. 0 of none.
[[nodiscard]] double quantile(std::vector<double> values, double share);
/// The middle of the values; of an even number the upper one. 0 of none.
[[nodiscard]] double median(std::vector<double> values);
template <class Value>
[[nodiscard]] double median_of(const Cubes& cubes, const Value& value) {
  std::vector<double> values;
  values.reserve(cubes.size());
  for (const CubeStatistics* cube : cubes) values.push_back(static_cast<double>(value(*cube)));
  return median(std::move(values));
}

struct QuietLevel {
  double variance = 0;  // as samples have it
  Cubes cubes;          // in which nothing is seen but noise; fewer than asked for: none
};

/// The level that explains the quiet ones of these cubes: their low frequencies have no more energy
/// than noise of the level that their high frequencies tell. None where fewer than `least` are so.
[[nodiscard]] QuietLevel quiet_level(const Cubes& cubes, std::size_t least);
/// What the `count` cubes with the least energy at low frequencies have at high ones.
[[nodiscard]] QuietLevel quietest(Cubes cubes, std::size_t count);

/// Cubes in which there is something: neither parts of what is around a masked object, nor clipped.
[[nodiscard]] Cubes valid_cubes(const CubeCollector& collector);

/// Which of the cubes are air whose samples are magnitudes of noise: mean, deviation and skewness
/// are those of Rayleigh's distribution, whatever the level. Empty where they are too few to tell.
[[nodiscard]] Cubes find_air(const Cubes& cubes, double zero);
/// sigma^2 in cubes of air: by the fifth with the least of it, as dark tissue with v near sigma is
/// taken for air of a greater sigma.
[[nodiscard]] double air_variance(const Cubes& air, double zero);

}  // namespace lull
