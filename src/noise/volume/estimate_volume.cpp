#include "noise/volume/estimate_volume.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "noise/volume/map_fit.h"
#include "noise/volume/quiet_cubes.h"
#include "noise/volume/rician.h"

namespace lull {
namespace {

/// Quiet cubes that there have to be, and how many are taken where none are: at least, and of all.
constexpr std::size_t least_quiet = 16;
constexpr double share_of_quiet = 0.005;
/// In what is dark the level may be told where it agrees with that of what is bright up to this:
/// structure makes the latter too high.
constexpr double same_level = 1.25;
/// Dark tissue that is taken for air makes its level too high: it is not told where it is above
/// that of tissue by more than this.
constexpr double dark_level = 1.05;
/// Air is that of a Rician volume if the level in it is so near to that of tissue.
constexpr double nearly_same_level = 2.5;
/// Samples of tissue: their mean in units of sigma.
constexpr double least_of_tissue = 2.4;
/// Where the quietest cubes have so much more energy at low frequencies than at high ones, noise is
/// smooth (images that were interpolated); beyond that it is no noise.
constexpr double white_slope = 1.5, noise_slope = 4;
/// Below this, on the 0..255 scale, there is none.
constexpr double least_sigma = 0.02;

// The map: nodes are so many cubes apart, and no more along an axis; cubes within `window` of the
// distance between nodes speak for one.
constexpr int cubes_a_node = 6, most_nodes = 16;
constexpr double window = 0.7;
constexpr double most_of_air = 1.15;  // level of a node's air in units of that of its tissue
constexpr std::size_t least_air_at_node = 20, least_quiet_at_node = 12, least_nodes = 6;
/// 1 / variance of the logarithm of a level by one cube: 64 voxels, or 8 coefficients by their
/// median; and as much as a node can have.
constexpr double weight_of_air = 128, weight_of_quiet = 10, greatest_weight = 400;

std::size_t quiet_wanted(const Cubes& cubes) {
  return std::max(least_quiet,
                  static_cast<std::size_t>(share_of_quiet * static_cast<double>(cubes.size())));
}

double mean_of(const Cubes& cubes) {
  return median_of(cubes, [](const CubeStatistics& cube) { return cube.mean; });
}

/// What parts a volume into dark and bright: the threshold with the greatest variance between its
/// sides (Otsu 1979, doi:10.1109/TSMC.1979.4310076).
double between_dark_and_bright(const Cubes& cubes) {
  std::vector<double> means;
  for (const CubeStatistics* cube : cubes) means.push_back(static_cast<double>(cube->mean));
  std::ranges::sort(means);
  double whole = 0, below = 0, greatest = -1, threshold = means.front();
  for (const double mean : means) whole += mean;
  const auto count = static_cast<double>(means.size());
  for (std::size_t k = 1; k < means.size(); ++k) {
    below += means[k - 1];
    const auto n = static_cast<double>(k);
    const double step = below / n - (whole - below) / (count - n);
    if (step * step * n * (count - n) <= greatest) continue;
    greatest = step * step * n * (count - n);
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
    // What is around the object is some other noise.
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
    if (level < least_sigma) level = 0;
    estimate_.level = estimate_.noise.sigma = static_cast<float>(level);
    if (level > 0 && estimate_.certain) follow_variation();
    return std::move(estimate_);
  }

 private:
  void find_air_level() {
    if (!air_.empty()) air_level_ = std::sqrt(air_variance(air_, zero_));
  }

  /// sigma of cubes that have this variance.
  double level_of(const QuietLevel& quiet) const {
    if (!rician_) return std::sqrt(quiet.variance);
    const double ratio = (mean_of(quiet.cubes) - zero_) / std::sqrt(quiet.variance);
    return std::sqrt(quiet.variance / rician_variance(ratio));
  }

  Cubes all_but_air() const {
    if (air_.empty()) return valid_;
    Cubes rest;
    // (Both are in the order of their addresses by now.)
    Cubes air = air_;
    std::ranges::sort(air);
    for (const CubeStatistics* cube : valid_)
      if (static_cast<double>(cube->mean) - zero_ > least_of_tissue * air_level_ &&
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
    const QuietLevel all = quiet_level(cubes, quiet_wanted(cubes));
    if (all.cubes.empty()) return take_quietest(cubes);
    tissue_ = level_of(all);
    if (rician_) return;
    const double threshold = between_dark_and_bright(cubes);
    Cubes dark, bright;
    for (const CubeStatistics* cube : cubes)
      (static_cast<double>(cube->mean) < threshold ? dark : bright).push_back(cube);
    const QuietLevel in_dark = quiet_level(dark, quiet_wanted(dark));
    const QuietLevel in_bright = quiet_level(bright, quiet_wanted(bright));
    if (in_bright.cubes.empty() || in_dark.cubes.empty()) return;
    tissue_ = std::sqrt(in_bright.variance);
    const double background = std::sqrt(in_dark.variance);
    if (background <= tissue_ && tissue_ <= same_level * background) air_level_ = background;
  }

  void take_quietest(const Cubes& cubes) {
    if (air_level_ > 0) return;  // which says more
    const QuietLevel few = quietest(cubes, quiet_wanted(cubes));
    const double low = median_of(few.cubes, [](const CubeStatistics& cube) { return cube.low; });
    const double slope = few.variance > 0 ? low / few.variance : 0;
    tissue_ = level_of(few);
    if (slope > white_slope && slope <= noise_slope)
      tissue_ =
          std::sqrt(median_of(few.cubes, [](const CubeStatistics& cube) { return cube.whole; }));
    if (slope <= noise_slope) return;
    estimate_.certain = false;
    estimate_.why = "there is structure in all of it";
  }

  /// Levels at the nodes of a map.
  void follow_variation() {
    std::array<int, 3> nodes{};
    for (int axis = 0; axis < 3; ++axis)
      nodes[axis] = std::clamp(
          (voxels_[axis] / CubeCollector::side + cubes_a_node / 2) / cubes_a_node, 1, most_nodes);
    const std::size_t count = static_cast<std::size_t>(nodes[0]) * nodes[1] * nodes[2];
    std::vector<Cubes> air(count), tissue(count);
    spread(air_, nodes, air);
    spread(all_but_air(), nodes, tissue);
    std::vector<NodeLevel> levels(count);
    std::size_t known = 0;
    for (std::size_t i = 0; i < count; ++i) {
      levels[i] = level_at(air[i], tissue[i]);
      if (levels[i].weight > 0) ++known;
    }
    if (known < least_nodes) return;
    NoiseMap map = fit_map(voxels_, nodes, levels);
    std::vector<float> seen;
    for (std::size_t i = 0; i < count; ++i)
      if (levels[i].weight > 0) seen.push_back(map.values[i]);
    std::ranges::sort(seen);
    const float low = seen[seen.size() / 20], high = seen[seen.size() - 1 - seen.size() / 20];
    if (high < followed_variation * low) return;
    // (What lies beyond is from a node of which little is known.)
    for (float& value : map.values) value = std::clamp(value, low / 1.5f, high * 1.5f);
    estimate_.level = seen[seen.size() / 2];
    estimate_.noise.sigma = map.least();
    estimate_.noise.map = std::make_shared<NoiseMap>(std::move(map));
  }

  /// A cube speaks for the nodes around it.
  void spread(const Cubes& cubes, const std::array<int, 3>& nodes,
              std::vector<Cubes>& at_nodes) const {
    for (const CubeStatistics* cube : cubes) {
      std::array<std::pair<int, int>, 3> near;
      for (int axis = 0; axis < 3; ++axis) {
        const double place =
            (cube->place[axis] + 0.5) * CubeCollector::side * nodes[axis] / voxels_[axis] - 0.5;
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
    const QuietLevel quiet = quiet_level(tissue, least_quiet_at_node);
    const double in_tissue = quiet.cubes.empty() ? 0 : level_of(quiet);
    const double in_air = air.size() < least_air_at_node ? 0 : std::sqrt(air_variance(air, zero_));
    add(in_tissue,
        std::min(greatest_weight, weight_of_quiet * static_cast<double>(quiet.cubes.size())));
    // (What is dark there is no air.)
    const bool dark_tissue = in_tissue > 0 && in_air > most_of_air * in_tissue;
    if (!dark_tissue)
      add(in_air, std::min(greatest_weight, weight_of_air * static_cast<double>(air.size())));
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
