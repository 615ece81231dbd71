#include "series/noise_estimator.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "series/covariance.h"
#include "series/cube_levels.h"
#include "series/decomposition.h"
#include "series/levels.h"
#include "series/residual_cubes.h"

namespace lull::series {
namespace {

/// Maximum number of corrections of the noise levels. The corrections end when the relative change
/// is below `close_level`, usually after two corrections.
constexpr int corrections = 3;
constexpr float close_level = 0.01f;
/// To correct the noise levels, lull computes the components from a part of the voxels: about
/// `voxels_per_volume` times the number of volumes, but at least `min_voxels`.
constexpr std::size_t voxels_per_volume = 100, min_voxels = 20'000;
/// Maximum share of signal components. The remaining components count as noise.
constexpr double max_signal_share = 0.7;
/// In series of at most `few_volumes` volumes, if the share of signal components is at least
/// `min_signal_share`, the other components contain some signal, too. In this case, the
/// `last_components` components with the smallest eigenvalues determine the noise level.
constexpr std::size_t few_volumes = 48;
constexpr double min_signal_share = 0.4;
constexpr int last_components = 3;
/// A level of the last components below `min_factor` shows that volumes are linear combinations of
/// other volumes.
constexpr double min_factor = 0.5;
/// If the ratio of two noise levels is below a limit, the levels count as equal. The limit is
/// `same_level` for levels from residuals, and `same_cube_level` for levels from cubes
/// (cube_levels.h). For the less accurate levels from single volumes, the limit is `same_estimate`,
/// or `same_rician_estimate` for Rician noise.
constexpr double same_level = 1.2, same_cube_level = 1.25;
constexpr double same_estimate = 1.5, same_rician_estimate = 2.5;
/// Maximum ratio of the noise level estimated from residuals to the level estimated from single
/// volumes. A higher ratio shows that the residuals contain signal.
constexpr float max_correction = 1.5f;

/// Selects entries of the list `voxels` at equal distances. The result has at least `most` entries
/// and fewer than twice as many. If the list is shorter, the function returns all entries.
std::vector<std::uint32_t> thinned(const std::vector<std::uint32_t>& voxels, std::size_t most) {
  const std::size_t step = std::max<std::size_t>(1, voxels.size() / most);
  std::vector<std::uint32_t> result;
  for (std::size_t i = 0; i < voxels.size(); i += step) result.push_back(voxels[i]);
  return result;
}

void scale_levels(SeriesNoise& noise, float factor) {
  for (float& level : noise.levels) level *= factor;
}

/// Estimates the noise of a series from single volumes, and then from the residuals (the samples
/// without the signal components).
class NoiseEstimator {
 public:
  NoiseEstimator(const Samples& samples, const SeriesNoise& initial, const FitOptions& options,
                 const std::vector<VoxelState>& states)
      : samples_(samples),
        initial_(initial),
        volumes_(noisy_volumes(initial)),
        options_(options),
        states_(states),
        have_cube_levels_(use_cube_levels()) {}

  /// Returns the noise before the correction by residuals: the given noise, or levels from cubes
  /// (cube_levels.h).
  const SeriesNoise& initial() const { return initial_; }

  EstimatedNoise estimate() const {
    const SeriesNoise found = have_cube_levels_ ? from_cube_levels() : from_estimates();
    // If volumes have little in common, their residuals contain signal.
    const bool has_signal = median_level(found) > max_correction * median_level(initial_);
    return {.initial = initial_, .found = has_signal ? initial_ : lowered(found)};
  }

 private:
  /// Replaces the initial levels by levels from cubes (cube_levels.h) if the levels from cubes
  /// differ between volumes. Returns whether the function has replaced the levels.
  bool use_cube_levels() {
    SeriesNoise common = initial_;
    for (const int v : volumes_) common.levels[v] = median_level(initial_);
    const auto voxels = select_voxels(samples_, Stabiliser(common, samples_.shape), volumes_,
                                      states_, options_.mask);
    std::vector<double> levels = levels_by_cubes(samples_, common, volumes_, voxels);
    // If the estimate from the single volume is much lower, the level from cubes contains
    // structure.
    const double limit = initial_.kind == NoiseKind::rician ? same_rician_estimate : same_estimate;
    for (std::size_t i = 0; i < levels.size(); ++i) {
      const auto own = static_cast<double>(initial_.levels[volumes_[i]]);
      if (!have_one_level(initial_) && levels[i] > limit * own) levels[i] = own;
      common.levels[volumes_[i]] = static_cast<float>(levels[i]);
    }
    const auto median = static_cast<double>(median_level(common));
    if (std::ranges::none_of(levels, [&](double level) {
          return std::max(level / median, median / level) > same_cube_level;
        }))
      return false;
    initial_ = std::move(common);
    return true;
  }

  /// Corrects levels from cubes by the residuals. The correction keeps the ratios of the levels,
  /// except in long series.
  SeriesNoise from_cube_levels() const {
    if (volumes_.size() > few_volumes) return corrected_separately();
    SeriesNoise found = corrected_together(initial_, true).noise;
    // Structure raises levels from cubes, but never lowers them, so they are upper limits. (With
    // noise that depends on position, the flattest cubes contain less noise than the others.)
    if (!found.map)
      scale_levels(found, std::min(median_level(initial_) / median_level(found), 1.0f));
    return found;
  }

  /// Corrects a common level by the residuals, or, if the levels differ, each estimate from a
  /// single volume.
  SeriesNoise from_estimates() const {
    SeriesNoise one_level = initial_;
    for (const int v : volumes_) one_level.levels[v] = median_level(initial_);
    ResidualLevels common = corrected_together(std::move(one_level), false);
    return !have_one_level(initial_) && differ(common) ? corrected_separately()
                                                       : std::move(common.noise);
  }

  /// Repeats the correction until the levels no longer change.
  ResidualLevels corrected_together(SeriesNoise noise, bool keep_ratios) const {
    ResidualLevels result{std::move(noise), {}};
    for (int i = 0; i < corrections; ++i) {
      const SeriesNoise before = result.noise;
      result = corrected(before, keep_ratios);
      if (is_close(before, result.noise)) break;
    }
    return result;
  }

  SeriesNoise corrected_separately() const {
    SeriesNoise found = initial_;
    for (int i = 0; i < corrections; ++i) found = corrected(found, false).noise;
    return found;
  }

  static bool is_close(float a, float b) { return std::abs(a - b) <= close_level * b; }
  /// Returns whether the noise levels have converged.
  static bool is_close(const SeriesNoise& a, const SeriesNoise& b) {
    const auto close = [](float x, float y) { return is_close(x, y); };
    if (!std::ranges::equal(a.levels, b.levels, close) || !a.map != !b.map) return false;
    return !a.map || std::ranges::equal(a.map->values, b.map->values, close);
  }

  /// Returns whether the noise levels of more than a tenth of the volumes differ from the common
  /// level.
  bool differ(const ResidualLevels& common) const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < volumes_.size(); ++i) {
      const int v = volumes_[i];
      const auto differs = [&](double ratio, double limit) {
        return std::max(ratio, 1 / ratio) > limit;
      };
      const auto level = static_cast<double>(initial_.levels[v]);
      if (common.ratios[i] > 0)
        count += differs(common.ratios[i], same_level);
      else if (initial_.kind != NoiseKind::rician)
        count += differs(level / static_cast<double>(common.noise.levels[v]), same_estimate) ||
                 differs(level / static_cast<double>(median_level(initial_)), same_estimate);
    }
    return count > volumes_.size() / 10;
  }

  struct Components {
    Moments moments;
    Decomposition found;
  };
  /// Returns the components of the series, or std::nullopt for too few usable voxels.
  std::optional<Components> components(const Stabiliser& stabiliser) const {
    const auto voxels =
        thinned(select_voxels(samples_, stabiliser, volumes_, states_, options_.mask),
                std::max(min_voxels, voxels_per_volume * volumes_.size()));
    if (voxels.size() < 2) return std::nullopt;
    Components result{.moments = moments_of(samples_, stabiliser, volumes_, voxels), .found = {}};
    result.found = decompose(result.moments, place_of(options_.second_group, volumes_), {});
    return result;
  }

  int most_components() const {
    return static_cast<int>(max_signal_share * static_cast<double>(volumes_.size()));
  }

  ResidualLevels corrected(const SeriesNoise& noise, bool keep_ratios) const {
    const Stabiliser stabiliser(noise, samples_.shape);
    const std::optional<Components> all = components(stabiliser);
    if (!all) return {noise, std::vector<double>(volumes_.size())};
    const Basis basis(volumes_, all->moments.means, all->found.eigen.vectors,
                      std::min(all->found.spectrum.components, most_components()));
    return levels_by_residuals(samples_, noise, stabiliser, basis, states_, keep_ratios);
  }

  /// Lowers the noise levels by a common factor if many components contain signal. The residuals
  /// then contain signal, too, so levels from residuals are too high.
  SeriesNoise lowered(SeriesNoise noise) const {
    if (volumes_.size() > few_volumes) return noise;
    if (!have_cube_levels_ && !have_one_level(noise)) return noise;
    const Stabiliser stabiliser(noise, samples_.shape);
    const std::optional<Components> all = components(stabiliser);
    const auto count = static_cast<double>(volumes_.size());
    if (!all || all->found.spectrum.components < min_signal_share * count) return noise;
    const int first = std::max(static_cast<int>(volumes_.size()) - last_components, 0);
    const double level =
        level_of_last_components(samples_, stabiliser, volumes_, all->found.eigen, first, states_)
            .value_or(1);
    if (level > min_factor) scale_levels(noise, static_cast<float>(std::min(level, 1.0)));
    return noise;
  }

  const Samples& samples_;
  SeriesNoise initial_;
  std::vector<int> volumes_;
  const FitOptions& options_;
  const std::vector<VoxelState>& states_;
  bool have_cube_levels_;
};

}  // namespace

EstimatedNoise estimate_noise(const Samples& samples, const SeriesNoise& initial,
                              const FitOptions& options, const std::vector<VoxelState>& states) {
  return NoiseEstimator(samples, initial, options, states).estimate();
}

SeriesNoise noise_by_cubes(const Samples& samples, const SeriesNoise& initial,
                           const FitOptions& options, const std::vector<VoxelState>& states) {
  return NoiseEstimator(samples, initial, options, states).initial();
}

}  // namespace lull::series
