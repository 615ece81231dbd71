#pragma once
// Fits a smooth map to noise levels of different accuracy, measured at the nodes of the map.

#include <array>
#include <vector>

#include "noise/volume/volume_noise.h"

namespace lull {

struct NodeLevel {
  double logarithm = 0;  // logarithm of the level
  double weight = 0;     // 1 / variance of `logarithm`; 0: not measured
};

/// Fits a map m to noise levels by least squares with Huber weights. For each node, the minimised
/// sum contains NodeLevel::weight * (log m - NodeLevel::logarithm)^2. For each pair of neighbouring
/// nodes, the sum contains `stiffness` times the squared difference of log m.
/// @param levels  x fastest, then y; at least one weight is above 0
[[nodiscard]] NoiseMap fit_map(const std::array<int, 3>& voxels, const std::array<int, 3>& nodes,
                               const std::vector<NodeLevel>& levels, double stiffness = 20);

}  // namespace lull
