#include "noise/volume/map_fit.h"

#include <algorithm>
#include <cmath>

#include "noise/volume/flat_cubes.h"

namespace lull {
namespace {

constexpr int rounds = 3, sweeps = 300;
/// A measured level is an outlier if log(level) deviates from the map by more than a limit. The
/// limit is `max_deviation` times the larger of two values: the median deviation and
/// `min_deviation`.
constexpr double max_deviation = 1.5, min_deviation = 0.02;

using Values = std::vector<double>;

/// Performs one Gauss-Seidel iteration over all nodes of the map.
void sweep(Values& values, const std::vector<NodeLevel>& levels, const Values& weights,
           const std::array<int, 3>& nodes, double stiffness) {
  const std::array<int, 3> stride{1, nodes[0], nodes[0] * nodes[1]};
  std::array<int, 3> at{};
  int i = 0;
  for (at[2] = 0; at[2] < nodes[2]; ++at[2])
    for (at[1] = 0; at[1] < nodes[1]; ++at[1])
      for (at[0] = 0; at[0] < nodes[0]; ++at[0], ++i) {
        double sum = weights[i] * levels[i].logarithm, weight = weights[i];
        for (int axis = 0; axis < 3; ++axis) {
          if (at[axis] > 0) sum += stiffness * values[i - stride[axis]], weight += stiffness;
          if (at[axis] + 1 < nodes[axis])
            sum += stiffness * values[i + stride[axis]], weight += stiffness;
        }
        if (weight > 0) values[i] = sum / weight;
      }
}

}  // namespace

NoiseMap fit_map(const std::array<int, 3>& voxels, const std::array<int, 3>& nodes,
                 const std::vector<NodeLevel>& levels, double stiffness) {
  double sum = 0, weight = 0;
  for (const NodeLevel& level : levels)
    sum += level.weight * level.logarithm, weight += level.weight;
  Values values(levels.size(), sum / weight), weights;
  for (const NodeLevel& level : levels) weights.push_back(level.weight);
  for (int round = 0; round < rounds; ++round) {
    for (int k = 0; k < sweeps; ++k) sweep(values, levels, weights, nodes, stiffness);
    Values off;
    for (std::size_t i = 0; i < levels.size(); ++i)
      if (levels[i].weight > 0) off.push_back(std::abs(values[i] - levels[i].logarithm));
    const double bound = max_deviation * std::max(median(off), min_deviation);
    for (std::size_t i = 0; i < levels.size(); ++i)
      weights[i] = levels[i].weight *
                   std::min(1.0, bound / std::max(std::abs(values[i] - levels[i].logarithm), 1e-9));
  }
  NoiseMap map{.voxels = voxels, .nodes = nodes, .values = {}};
  for (const double value : values) map.values.push_back(static_cast<float>(std::exp(value)));
  return map;
}

}  // namespace lull
