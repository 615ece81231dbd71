#include "noise/volume/volume_noise.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/error.h"

namespace lull {
namespace {

/// The two nodes of the noise map for the interpolation at a voxel, along one axis.
struct NodePair {
  int low, high;
  float share;  // weight of the node with the higher index
};

NodePair nodes_around(int voxel, int voxels, int nodes) {
  const double place = (voxel + 0.5) * nodes / voxels - 0.5;
  const double kept = std::clamp(place, 0.0, nodes - 1.0);
  const int low = std::min(static_cast<int>(kept), std::max(nodes - 2, 0));
  return {low, std::min(low + 1, nodes - 1), static_cast<float>(kept - low)};
}

float mix(float a, float b, float share) { return a + share * (b - a); }

bool is_level(float value) { return value > 0 && std::isfinite(value); }

}  // namespace

float NoiseMap::min_value() const { return *std::ranges::min_element(values); }
float NoiseMap::max_value() const { return *std::ranges::max_element(values); }

void NoiseMap::slice(int z, PlaneView<float> to) const {
  const NodePair at_z = nodes_around(std::clamp(z, 0, voxels[2] - 1), voxels[2], nodes[2]);
  std::vector<float> row(nodes[0]);
  std::vector<NodePair> columns;
  for (int x = 0; x < to.width; ++x) columns.push_back(nodes_around(x, to.width, nodes[0]));
  for (int y = 0; y < to.height; ++y) {
    const NodePair at_y = nodes_around(y, to.height, nodes[1]);
    for (int i = 0; i < nodes[0]; ++i) {
      const auto along_y = [&](int k) {
        return mix(node(i, at_y.low, k), node(i, at_y.high, k), at_y.share);
      };
      row[i] = mix(along_y(at_z.low), along_y(at_z.high), at_z.share);
    }
    float* out = to.row(y);
    for (int x = 0; x < to.width; ++x)
      out[x] = mix(row[columns[x].low], row[columns[x].high], columns[x].share);
  }
}

VolumeNoise scaled(const VolumeNoise& noise, float factor) {
  VolumeNoise result = noise;
  result.sigma *= factor;
  if (!noise.map) return result;
  auto map = std::make_shared<NoiseMap>(*noise.map);
  for (float& value : map->values) value *= factor;
  result.map = std::move(map);
  return result;
}

float max_level(const VolumeNoise& noise) {
  return noise.map ? noise.map->max_value() : noise.sigma;
}

void validate(const VolumeNoise& noise) {
  if (!is_level(noise.sigma) || !std::isfinite(noise.zero))
    throw InvalidArgument(
        "an invalid noise level of a volume (it must be above 0); estimate the noise again");
  if (noise.photons) validate(*noise.photons);
  if (!noise.map) return;
  const NoiseMap& map = *noise.map;
  constexpr int max_nodes = 256;  // along an axis
  std::size_t count = 1;
  for (int axis = 0; axis < 3; ++axis) {
    if (map.nodes[axis] < 1 || map.nodes[axis] > max_nodes || map.voxels[axis] < 1)
      throw InvalidArgument("a noise map with " + std::to_string(map.nodes[axis]) +
                            " nodes along an axis (must be 1 to 256); estimate the noise again");
    count *= static_cast<std::size_t>(map.nodes[axis]);
  }
  if (map.values.size() != count || !std::ranges::all_of(map.values, is_level))
    throw InvalidArgument("a noise map with missing or invalid levels; estimate the noise again");
}

}  // namespace lull
