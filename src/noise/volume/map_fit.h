#pragma once
// A smooth map of levels that were measured here and there, of unequal worth.

#include <array>
#include <vector>

#include "noise/volume/volume_noise.h"

namespace lull {

struct NodeLevel {
  double logarithm = 0;  // of the level
  double weight = 0;     // 1 / variance of the logarithm; 0: nothing is known
};

/// The map that is nearest to what is known with the least differences between neighbours: it
/// minimises the sum of weight (log m - logarithm)^2 and of `stiffness` times the squared
/// differences of neighbours' logarithms. What is far off weighs less (Huber). Where nothing is
/// known, it goes on from where something is.
/// @param levels  x fastest, then y; at least one with a weight
[[nodiscard]] NoiseMap fit_map(const std::array<int, 3>& voxels, const std::array<int, 3>& nodes,
                               const std::vector<NodeLevel>& levels, double stiffness = 20);

}  // namespace lull
