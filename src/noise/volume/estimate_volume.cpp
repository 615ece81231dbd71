#include "noise/volume/estimate_volume.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "noise/volume/flat_cubes.h"
#include "noise/volume/map_fit.h"
#include "noise/volume/rician.h"

namespace lull {
namespace {

/// Minimum number of flat cubes for the measurement of a noise level: the larger of
/// `min_flat_cubes` and the share `flat_share` of all cubes. If there are fewer flat cubes, the
/// estimator measures the flattest cubes.
constexpr std::size_t min_flat_cubes = 16;
constexpr double flat_share = 0.005;
/// Structure raises the measured noise level of bright cubes. The two levels therefore count as
/// equal if the level of bright cubes is at most `same_level` times the level of dark cubes.
constexpr double same_level = 1.25;
/// Maximum ratio of the noise level of air to the noise level of tissue. If the ratio is larger,
/// the cubes that seemed to be air are dark tissue.
constexpr double dark_level = 1.05;
/// If the noise is Rician, the noise levels of tissue and of air differ by less than this factor.
constexpr double nearly_same_level = 2.5;
/// Minimum mean of a tissue cube, in units of sigma.
constexpr double min_tissue_mean = 2.4;
/// Limits for the energy ratio of low and high frequencies in the flattest cubes. Above
/// `white_slope`, the noise is not white. Above `noise_slope`, the cubes contain structure.
constexpr double white_slope = 1.5, noise_slope = 4;
/// Minimum noise level on the 0..255 scale. A lower level counts as no noise.
constexpr double min_sigma = 0.02;

// Parameters of the noise map. `cubes_per_node` is the distance between adjacent nodes, in cubes,
// and `max_nodes` the maximum number of nodes along an axis. `window` is the radius of the
// measurement around a node, in multiples of the distance between adjacent nodes.
constexpr int cubes_per_node = 6, max_nodes = 16;
constexpr double window = 0.7;
// Maximum ratio of the noise level of air to the noise level of tissue at a node of the noise map.
// If the ratio is larger, the cubes that seemed to be air are dark tissue.
constexpr double max_air_ratio = 1.15;
constexpr std::size_t min_air_at_node = 20, min_flat_at_node = 12, min_nodes = 6;
/// Weights of one cube in the fit of the noise map: 1 / variance of log(level). A cube of air has
/// 64 measured voxels, and a flat cube only 8 measured coefficients. At each node, the sum of the
/// weights is at most `max_weight`, separately for cubes of air and for flat cubes.
constexpr double weight_of_air = 128, weight_of_flat = 10, max_weight = 400;

std::size_t wanted_cubes(const Cubes& cubes) {
  return std::max(min_flat_cubes,
                  static_cast<std::size_t>(flat_share * static_cast<double>(cubes.size())));
}

double mean_of(const Cubes& cubes) {
  return median_of(cubes, [](const CubeStatistics& cube) { return cube.mean; });
}

/// Returns the threshold between dark and bright cubes (Otsu 1979, doi:10.1109/TSMC.1979.4310076).
double between_dark_and_bright(const Cubes& cubes) {
  std::vector<double> means;
  for (const CubeStatistics* cube : cubes) means.push_back(static_cast<double>(cube->mean));
  std::ranges::sort(means);
  double whole = 0, below = 0, maximum = -1, threshold = means.front();
  for (const double mean : means) whole += mean;
  const auto count = static_cast<double>(means.size());
  for (std::size_t k = 1; k < means.size(); ++k) {
    below += means[k - 1];
    const auto n = static_cast<double>(k);
    const double step = below / n - (whole - below) / (count - n);
    if (step * step * n * (count - n) <= maximum) continue;
    maximum = step * step * n * (count - n);
    threshold = means[k];
  }
  return threshold;
}

class Estimator {
 public:
  Estimator(const CubeCollector& collector, std::optional<NoiseKind> kind, float zero)
      : voxels_(collector.voxels()), zero_(zero), valid_(valid_cubes(collector)) {
    if (kind != NoiseKind::gaussian) air_ = find_air(valid_, zero_);
    estimate_.noise.zero = zero;
    find_air_level();
    rician_ = kind == NoiseKind::rician || !air_.empty();
    find_tissue();
    const double ratio = tissue_ > 0 && air_level_ > 0 ? air_level_ / tissue_ : 1;
    if (kind || !rician_ || std::max(ratio, 1 / ratio) < nearly_same_level) return;
    // Rician noise would have similar levels in background and tissue. At this point, the measured
    // levels differ too much, so the noise is not Rician.
    rician_ = false;
    air_.clear();
    air_level_ = 0;
    find_tissue();
  }

  VolumeEstimate estimate() && {
    estimate_.noise.kind = rician_ ? NoiseKind::rician : NoiseKind::gaussian;
    const bool agree = tissue_ <= same_level * air_level_ && air_level_ <= dark_level * tissue_;
    double level = air_level_ > 0 && (agree || tissue_ == 0) ? air_level_ : tissue_;
    estimate_.air = static_cast<float>(air_level_);
    estimate_.tissue = static_cast<float>(tissue_);
    if (level < min_sigma) level = 0;
    estimate_.level = estimate_.noise.sigma = static_cast<float>(level);
    if (level > 0 && estimate_.certain) follow_variation();
    return std::move(estimate_);
  }

 private:
  void find_air_level() {
    if (!air_.empty()) air_level_ = std::sqrt(air_variance(air_, zero_));
  }

  /// Returns the noise parameter sigma of flat cubes. In dark cubes with Rician noise, the measured
  /// variance is below sigma^2.
  double level_of(const FlatLevel& flat) const {
    if (!rician_) return std::sqrt(flat.variance);
    const double ratio = (mean_of(flat.cubes) - zero_) / std::sqrt(flat.variance);
    return std::sqrt(flat.variance / rician_variance(ratio));
  }

  Cubes all_but_air() const {
    if (air_.empty()) return valid_;
    Cubes rest;
    // std::ranges::binary_search() requires cubes in the order of their addresses, so the function
    // sorts `air`. valid_ already has this order.
    Cubes air = air_;
    std::ranges::sort(air);
    for (const CubeStatistics* cube : valid_)
      if (static_cast<double>(cube->mean) - zero_ > min_tissue_mean * air_level_ &&
          !std::ranges::binary_search(air, cube))
        rest.push_back(cube);
    return rest;
  }

  void find_tissue() {
    estimate_.certain = true;
    estimate_.why.clear();
    tissue_ = 0;
    const Cubes cubes = all_but_air();
    if (cubes.empty()) return;
    const FlatLevel all = flat_level(cubes, wanted_cubes(cubes));
    if (all.cubes.empty()) return use_flattest(cubes);
    tissue_ = level_of(all);
    if (rician_) return;
    const double threshold = between_dark_and_bright(cubes);
    Cubes dark, bright;
    for (const CubeStatistics* cube : cubes)
      (static_cast<double>(cube->mean) < threshold ? dark : bright).push_back(cube);
    const FlatLevel in_dark = flat_level(dark, wanted_cubes(dark));
    const FlatLevel in_bright = flat_level(bright, wanted_cubes(bright));
    if (in_bright.cubes.empty() || in_dark.cubes.empty()) return;
    tissue_ = std::sqrt(in_bright.variance);
    const double background = std::sqrt(in_dark.variance);
    if (background <= tissue_ && tissue_ <= same_level * background) air_level_ = background;
  }

  void use_flattest(const Cubes& cubes) {
    if (air_level_ > 0) return;  // the level of air exists and is more reliable
    const FlatLevel few = flattest_level(cubes, wanted_cubes(cubes));
    const double low = median_of(few.cubes, [](const CubeStatistics& cube) { return cube.low; });
    const double slope = few.variance > 0 ? low / few.variance : 0;
    tissue_ = level_of(few);
    if (slope > white_slope && slope <= noise_slope)
      tissue_ =
          std::sqrt(median_of(few.cubes, [](const CubeStatistics& cube) { return cube.variance; }));
    if (slope <= noise_slope) return;
    estimate_.certain = false;
    estimate_.why = "it contains structure everywhere";
  }

  /// Measures the noise level at the nodes of a noise map, and adds the map to the estimate if the
  /// level varies.
  void follow_variation() {
    std::array<int, 3> nodes{};
    for (int axis = 0; axis < 3; ++axis)
      nodes[axis] =
          std::clamp((voxels_[axis] / CubeCollector::side + cubes_per_node / 2) / cubes_per_node, 1,
                     max_nodes);
    const std::size_t count = static_cast<std::size_t>(nodes[0]) * nodes[1] * nodes[2];
    std::vector<Cubes> air(count), tissue(count);
    assign_to_nodes(air_, nodes, air);
    assign_to_nodes(all_but_air(), nodes, tissue);
    std::vector<NodeLevel> levels(count);
    std::size_t known = 0;
    for (std::size_t i = 0; i < count; ++i) {
      levels[i] = level_at(air[i], tissue[i]);
      if (levels[i].weight > 0) ++known;
    }
    if (known < min_nodes) return;
    NoiseMap map = fit_map(voxels_, nodes, levels);
    std::vector<float> seen;
    for (std::size_t i = 0; i < count; ++i)
      if (levels[i].weight > 0) seen.push_back(map.values[i]);
    std::ranges::sort(seen);
    const float low = seen[seen.size() / 20], high = seen[seen.size() - 1 - seen.size() / 20];
    if (high < followed_variation * low) return;
    // At nodes of the noise map with few measured cubes, the fit may give values far outside the
    // range of the measured levels. The code limits such values.
    for (float& value : map.values) value = std::clamp(value, low / 1.5f, high * 1.5f);
    estimate_.level = seen[seen.size() / 2];
    estimate_.noise.sigma = map.min_value();
    estimate_.noise.map = std::make_shared<NoiseMap>(std::move(map));
  }

  void assign_to_nodes(const Cubes& cubes, const std::array<int, 3>& nodes,
                       std::vector<Cubes>& at_nodes) const {
    for (const CubeStatistics* cube : cubes) {
      std::array<std::pair<int, int>, 3> near;
      for (int axis = 0; axis < 3; ++axis) {
        const double place =
            (cube->position[axis] + 0.5) * CubeCollector::side * nodes[axis] / voxels_[axis] - 0.5;
        near[axis] = {std::max(static_cast<int>(std::ceil(place - window)), 0),
                      std::min(static_cast<int>(std::floor(place + window)), nodes[axis] - 1)};
      }
      for (int z = near[2].first; z <= near[2].second; ++z)
        for (int y = near[1].first; y <= near[1].second; ++y)
          for (int x = near[0].first; x <= near[0].second; ++x)
            at_nodes[(static_cast<std::size_t>(z) * nodes[1] + y) * nodes[0] + x].push_back(cube);
    }
  }

  NodeLevel level_at(const Cubes& air, const Cubes& tissue) const {
    NodeLevel level;
    const auto add = [&](double sigma, double weight) {
      if (sigma <= 0) return;
      level.logarithm += weight * std::log(sigma);
      level.weight += weight;
    };
    const FlatLevel flat = flat_level(tissue, min_flat_at_node);
    const double in_tissue = flat.cubes.empty() ? 0 : level_of(flat);
    const double in_air = air.size() < min_air_at_node ? 0 : std::sqrt(air_variance(air, zero_));
    add(in_tissue, std::min(max_weight, weight_of_flat * static_cast<double>(flat.cubes.size())));
    // If the noise in the cubes of air is much stronger than the noise of tissue, these cubes are
    // not air but dark tissue.
    const bool dark_tissue = in_tissue > 0 && in_air > max_air_ratio * in_tissue;
    if (!dark_tissue)
      add(in_air, std::min(max_weight, weight_of_air * static_cast<double>(air.size())));
    if (level.weight > 0) level.logarithm /= level.weight;
    return level;
  }

  std::array<int, 3> voxels_;
  double zero_;
  Cubes valid_, air_;
  bool rician_ = false;
  double air_level_ = 0, tissue_ = 0;
  VolumeEstimate estimate_;
};

}  // namespace

VolumeEstimate estimate_volume(const CubeCollector& collector, std::optional<NoiseKind> kind,
                               float zero) {
  return Estimator(collector, kind, zero).estimate();
}

}  // namespace lull
