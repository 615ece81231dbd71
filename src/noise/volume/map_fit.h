#pragma once
// Fits a smooth map to noise levels that are measured at some nodes with different accuracy.

#include <array>
#include <vector>

#include "noise/volume/volume_noise.h"

namespace lull {

struct NodeLevel {
  double logarithm = 0;  // logarithm of the level
  double weight = 0;     // 1 / variance of `logarithm`; 0: not measured
};

/// Returns the map m that minimises the sum of NodeLevel::weight (log m - NodeLevel::logarithm)^2
/// over all nodes, plus `stiffness` times the squared differences between the logarithms of
/// neighbouring nodes. Outliers get smaller weights (Huber). Values at nodes without a measurement
/// are extrapolated from the others.
/// @param levels x fastest, then y; at least one of them with a weight above 0
[[nodiscard]] NoiseMap fit_map(const std::array<int, 3>& voxels, const std::array<int, 3>& nodes,
                               const std::vector<NodeLevel>& levels, double stiffness = 20);

}  // namespace lull
