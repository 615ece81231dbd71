#include "series/levels.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace lull::series {
namespace {

/// Grid spacing of the noise map, in voxels.
constexpr int cell = 4;
/// Minimum signal of usable Rician samples after stabilisation, in units of the noise level.
constexpr double min_rician_signal = 2;
/// lull corrects the noise level of a volume only if the residuals of the volume contain at least
/// this share of the noise variance.
constexpr double min_free_share = 0.3;
/// Minimum degrees of freedom of the residuals for the noise level of a volume, and for the level
/// of a node of the noise map. With n degrees of freedom, the relative standard deviation of a
/// level is 1 / sqrt(2 * n).
constexpr double min_volume_freedom = 400, min_node_freedom = 3000;
/// lull examines the residuals of every k-th voxel. For V volumes with noise, k is V /
/// `max_examined`, rounded down, but at least 1.
constexpr int max_examined = 100;
/// Minimum ratio of the maximum of a noise map to its minimum. lull discards flatter maps.
constexpr double min_variation = 1.08;

/// Sum of squared residuals, and its expectation for noise of variance 1 (the degrees of freedom).
struct Residuals {
  double squares = 0, freedom = 0;
  Residuals& operator+=(const Residuals& other) {
    squares += other.squares;
    freedom += other.freedom;
    return *this;
  }
  double variance() const { return squares / freedom; }
};

/// Residuals at the nodes of a three-dimensional grid.
struct Grid {
  std::array<int, 3> nodes;
  std::vector<Residuals> values;

  Residuals& at(int x, int y, int z) {
    return values[(static_cast<std::size_t>(z) * nodes[1] + y) * nodes[0] + x];
  }
};

struct Sums {
  std::vector<Residuals> by_volume;
  Grid by_node;
};

class Collector {
 public:
  Collector(const Samples& samples, const Stabiliser& stabiliser, const Basis& basis,
            std::span<const VoxelState> states)
      : samples_(samples), stabiliser_(stabiliser), basis_(basis), states_(states) {
    for (int i = 0; i < basis.size(); ++i) free_.push_back(1 - basis.leverage(i));
    const Shape& shape = samples.shape;
    nodes_ = {(shape.width + cell - 1) / cell, (shape.height + cell - 1) / cell,
              (shape.slices + cell - 1) / cell};
    step_ = std::max(1, basis.size() / max_examined);
  }

  /// Sums the squared residuals of every `step_`-th voxel. Each parallel task processes `cell`
  /// slices. The function adds the sums of the tasks in a fixed order, so the result is
  /// deterministic.
  Sums collect() const {
    const std::size_t size = static_cast<std::size_t>(nodes_[0]) * nodes_[1] * nodes_[2];
    Sums all{std::vector<Residuals>(basis_.size()), {nodes_, std::vector<Residuals>(size)}};
    std::vector<std::vector<Residuals>> by_layer(nodes_[2], all.by_volume);
    tbb::parallel_for(0, nodes_[2], [&](int z) { collect_layer(z, all.by_node, by_layer[z]); });
    for (const std::vector<Residuals>& layer : by_layer)
      for (int i = 0; i < basis_.size(); ++i) all.by_volume[i] += layer[i];
    return all;
  }

 private:
  void collect_layer(int layer, Grid& by_node, std::vector<Residuals>& by_volume) const {
    const Shape& shape = samples_.shape;
    std::vector<double> noisy(basis_.size()), clean(basis_.size()), components(basis_.components());
    const std::size_t begin = layer * cell * shape.slice_voxels();
    const std::size_t end = std::min((layer + 1) * cell, shape.slices) * shape.slice_voxels();
    for (std::size_t voxel = begin; voxel < end; voxel += step_) {
      if (states_[voxel] != VoxelState::complete) continue;
      for (int i = 0; i < basis_.size(); ++i) {
        const int v = basis_.volumes()[i];
        noisy[i] = stabiliser_.forward(v, voxel, samples_.volume(v)[voxel]);
      }
      basis_.project(noisy.data(), components.data());
      basis_.reconstruct(components.data(), clean.data());
      const auto x = static_cast<int>(voxel % shape.width);
      const auto y = static_cast<int>(voxel / shape.width % shape.height);
      add(noisy, clean, by_node.at(x / cell, y / cell, layer), by_volume);
    }
  }

  void add(const std::vector<double>& noisy, const std::vector<double>& clean, Residuals& node,
           std::vector<Residuals>& by_volume) const {
    for (int i = 0; i < basis_.size(); ++i) {
      if (free_[i] < min_free_share) continue;
      if (stabiliser_.is_rician() && clean[i] < min_rician_signal) continue;
      const double difference = noisy[i] - clean[i];
      const Residuals one{difference * difference, free_[i]};
      by_volume[i] += one;
      node += one;
    }
  }

  const Samples& samples_;
  const Stabiliser& stabiliser_;
  const Basis& basis_;
  std::span<const VoxelState> states_;
  std::vector<double> free_;  // for each volume, the share of its noise that is in the residuals
  std::array<int, 3> nodes_{};
  int step_ = 1;
};

/// Smooths a grid along one axis with the weights 1, 2, 1. The weights apply to nodes that are
/// `distance` nodes apart.
void smooth(Grid& grid, int axis, int distance) {
  const int length = grid.nodes[axis];
  const std::size_t step = axis == 0   ? 1
                           : axis == 1 ? static_cast<std::size_t>(grid.nodes[0])
                                       : static_cast<std::size_t>(grid.nodes[0]) * grid.nodes[1];
  const std::vector<Residuals> from = grid.values;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto place = static_cast<int>(i / step % length);
    Residuals& to = grid.values[i];
    to += from[i];
    if (place >= distance) to += from[i - distance * step];
    if (place + distance < length) to += from[i + distance * step];
  }
}

/// Returns the variance of the residuals at each node of `grid`. The variance comes from the
/// smallest neighbourhood of the node whose residuals have enough degrees of freedom
/// (`min_node_freedom`).
std::vector<double> variances_at(Grid grid) {
  std::vector<double> variances(grid.values.size());
  Residuals whole;
  for (const Residuals& node : grid.values) whole += node;
  const int longest = std::ranges::max(grid.nodes);
  double peak = 1;  // largest weight of a node; freedom / peak is at most the true freedom
  for (int distance = 1; distance < 2 * longest; distance *= 2)
    for (int axis = 0; axis < 3; ++axis) {
      smooth(grid, axis, distance);
      peak *= 2;
      if (axis < 2) continue;
      for (std::size_t i = 0; i < variances.size(); ++i) {
        const Residuals& node = grid.values[i];
        if (variances[i] == 0 && node.freedom >= min_node_freedom * peak)
          variances[i] = node.variance();
      }
    }
  for (double& variance : variances)
    if (variance == 0) variance = whole.freedom > 0 ? whole.variance() : 1;
  return variances;
}

/// Returns a factor of the noise level for each node of a grid: the value of the current noise map
/// at the node. Without a noise map, all factors are 1.
std::vector<double> factors_at(const SeriesNoise& noise, const Shape& shape,
                               const std::array<int, 3>& nodes) {
  std::vector<double> factors;
  std::vector<float> slice(shape.slice_voxels(), 1.0f);
  const auto middle = [](int node, int count, int size) {
    return std::min(static_cast<int>((node + 0.5) * size / count), size - 1);
  };
  for (int z = 0; z < nodes[2]; ++z) {
    if (noise.map)
      noise.map->slice(middle(z, nodes[2], shape.slices),
                       {slice.data(), shape.width, shape.height, shape.width});
    for (int y = 0; y < nodes[1]; ++y)
      for (int x = 0; x < nodes[0]; ++x)
        factors.push_back(
            slice[static_cast<std::size_t>(middle(y, nodes[1], shape.height)) * shape.width +
                  middle(x, nodes[0], shape.width)]);
  }
  return factors;
}

/// Makes a noise map from `factors` divided by their geometric mean, and returns this mean.
double set_map(const Shape& shape, const std::array<int, 3>& nodes, std::vector<double> factors,
               SeriesNoise& noise) {
  double mean = 0;
  for (const double factor : factors) mean += std::log(factor);
  mean = std::exp(mean / static_cast<double>(factors.size()));
  const auto [lowest, highest] = std::ranges::minmax(factors);
  noise.map.reset();
  if (highest < min_variation * lowest) return mean;
  auto map = std::make_shared<NoiseMap>();
  map->voxels = {shape.width, shape.height, shape.slices};
  map->nodes = nodes;
  for (const double factor : factors) map->values.push_back(static_cast<float>(factor / mean));
  noise.map = std::move(map);
  return mean;
}

}  // namespace

bool have_one_level(const SeriesNoise& noise) {
  const float level = median_level(noise);
  return std::ranges::all_of(noise.levels, [&](float l) { return l == level || !(l > 0); });
}

ResidualLevels levels_by_residuals(const Samples& samples, const SeriesNoise& noise,
                                   const Stabiliser& stabiliser, const Basis& basis,
                                   std::span<const VoxelState> states, bool keep_ratios) {
  const Sums sums = Collector(samples, stabiliser, basis, states).collect();
  Residuals whole;
  for (const Residuals& volume : sums.by_volume) whole += volume;
  ResidualLevels result{noise, std::vector<double>(basis.size())};
  if (whole.freedom < min_node_freedom || !(whole.squares > 0)) return result;
  std::vector<double> factors = factors_at(noise, samples.shape, sums.by_node.nodes);
  const std::vector<double> variances = variances_at(sums.by_node);
  for (std::size_t i = 0; i < factors.size(); ++i)
    factors[i] *= std::sqrt(variances[i] / whole.variance());
  const double mean = set_map(samples.shape, sums.by_node.nodes, std::move(factors), result.noise);
  // If all noise levels are equal, the volumes get a common correction. With separate corrections,
  // a volume with too low a noise level would dominate a principal component. The residuals of this
  // volume would shrink, and each correction would lower its noise level further.
  const bool equal = keep_ratios || have_one_level(noise);
  for (int i = 0; i < basis.size(); ++i) {
    const Residuals& volume = sums.by_volume[i];
    if (volume.freedom >= min_volume_freedom) result.ratios[i] = std::sqrt(volume.variance());
    const double correction = equal                  ? std::sqrt(whole.variance())
                              : result.ratios[i] > 0 ? result.ratios[i]
                                                     : 1;
    result.noise.levels[basis.volumes()[i]] *= static_cast<float>(mean * correction);
  }
  return result;
}

}  // namespace lull::series
