#include "series/fit.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "series/covariance.h"
#include "series/cube_levels.h"
#include "series/decomposition.h"
#include "series/levels.h"
#include "series/residual_cubes.h"
#include "series/risk.h"

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
/// A series of at most `few_volumes` volumes is short. If at least the share `min_signal_share` of
/// the components of a short series contains signal, the other components contain some signal, too.
/// The `last_components` components with the smallest eigenvalues then determine the noise level.
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
/// Minimum number of filtered components. Even a component with a small eigenvalue can contain a
/// signal, if this signal exists in only a few voxels.
constexpr int min_components = 16;
/// lull filters a volume separately only if a separate filter reduces the estimated error of the
/// volume by more than `significance` standard errors. lull does not examine series of more than
/// `max_examined_volumes` volumes.
constexpr double significance = 2;
constexpr std::size_t max_examined_volumes = 128;

/// Selects entries of the list `voxels` at equal distances. The result has at least `most` entries
/// and fewer than twice as many. If the list is shorter, the function returns all entries.
std::vector<std::uint32_t> thinned(const std::vector<std::uint32_t>& voxels, std::size_t most) {
  const std::size_t step = std::max<std::size_t>(1, voxels.size() / most);
  std::vector<std::uint32_t> result;
  for (std::size_t i = 0; i < voxels.size(); i += step) result.push_back(voxels[i]);
  return result;
}

std::size_t place_of(int volume, const std::vector<int>& volumes) {
  return std::ranges::lower_bound(volumes, volume) - volumes.begin();
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

  SeriesNoise estimate() const {
    const SeriesNoise found = have_cube_levels_ ? from_cube_levels() : from_estimates();
    // If volumes have little in common, their residuals contain signal.
    return median_level(found) > max_correction * median_level(initial_) ? initial_
                                                                         : lowered(found);
  }

 private:
  /// Replaces the initial levels by levels from cubes (cube_levels.h) if the levels from cubes
  /// differ from volume to volume. Returns whether the function has replaced the levels.
  bool use_cube_levels() {
    // In series of real and imaginary parts, the remaining phase adds fine structure to each
    // volume. For such series, the estimates from single volumes are more accurate.
    if (options_.second_group > 0) return false;
    SeriesNoise common = initial_;
    for (const int v : volumes_) common.levels[v] = median_level(initial_);
    const auto voxels = select_voxels(samples_, Stabiliser(common, samples_.shape), volumes_,
                                      states_, options_.mask);
    std::vector<double> levels = levels_by_cubes(samples_, common, volumes_, voxels);
    // A level from cubes that is much higher than the estimate from the single volume contains
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
    // Structure raises levels from cubes, but never lowers them, so levels from cubes are upper
    // limits. (With noise that depends on position, the flattest cubes contain less noise than the
    // others.)
    if (!found.map)
      scale_levels(found, std::min(median_level(initial_) / median_level(found), 1.0f));
    return found;
  }

  /// If the levels of the volumes are similar, corrects their median by the residuals. Otherwise,
  /// corrects the estimate from each single volume.
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

/// Returns the means and the covariance of the volumes in the list `some`.
Moments moments_of_some(const Moments& moments, const std::vector<int>& all,
                        const std::vector<int>& some) {
  Moments result{.count = moments.count, .means = {}, .covariance = {}};
  for (const int a : some) {
    const std::size_t row = place_of(a, all);
    result.means.push_back(moments.means[row]);
    for (const int b : some)
      result.covariance.push_back(moments.covariance[row * all.size() + place_of(b, all)]);
  }
  return result;
}

/// Makes a basis for all volumes: the leading components of the volumes `combined`, and one
/// component for each volume outside `combined`.
Basis make_basis(const std::vector<int>& all, const Moments& moments,
                 const std::vector<int>& combined, const EigenSystem& eigen, int components) {
  const std::size_t count = all.size();
  std::vector<double> rows(components * count);
  for (int k = 0; k < components; ++k)
    for (std::size_t i = 0; i < combined.size(); ++i)
      rows[k * count + place_of(combined[i], all)] = eigen.vector(k)[i];
  for (const int volume : all) {
    if (std::ranges::binary_search(combined, volume)) continue;
    rows.resize(rows.size() + count);
    rows[rows.size() - count + place_of(volume, all)] = 1;
  }
  return {all, moments.means, rows, static_cast<int>(rows.size() / count)};
}

/// Erases, from the list `volumes`, each volume whose estimated error is smaller with a separate
/// filter. Returns whether the list has changed.
bool remove_alone(const Risks& risks, std::vector<int>& volumes) {
  std::vector<int> kept;
  for (std::size_t i = 0; i < risks.alone.size(); ++i)
    if (risks.together[i] - risks.alone[i] <= significance * risks.error[i])
      kept.push_back(volumes[i]);
  if (risks.alone.empty() || kept.size() == volumes.size()) return false;
  volumes = std::move(kept);
  return true;
}

int filtered_components(const Spectrum& spectrum, const FitOptions& options, int volumes) {
  if (options.keep_all) return volumes;
  return std::min(std::max({spectrum.components, options.components, min_components}), volumes);
}

/// Returns the noise variance of stabilised samples, which is 1 for given noise levels. If the
/// levels are estimates, returns no value, because the spectrum determines the variance.
std::optional<double> variance_of(const FitOptions& options) {
  return options.refine ? std::nullopt : std::optional(1.0);
}

/// Returns the volumes that the components combine. The function omits volumes for which a separate
/// filter is better.
std::vector<int> choose_combined(const Samples& samples, const Stabiliser& stabiliser,
                                 const std::vector<int>& volumes, const Moments& moments,
                                 const std::vector<std::uint32_t>& voxels,
                                 const FitOptions& options) {
  std::vector<int> combined = volumes;
  while (volumes.size() <= max_examined_volumes && combined.size() > 1) {
    const Moments part = moments_of_some(moments, volumes, combined);
    const Decomposition found =
        decompose(part, place_of(options.second_group, combined), variance_of(options));
    const int kept =
        filtered_components(found.spectrum, options, static_cast<int>(combined.size()));
    if (!remove_alone(
            estimate_risks(samples, stabiliser, combined, part.means, found.eigen, kept, voxels),
            combined))
      break;
  }
  return combined.size() > 1 ? combined : std::vector<int>{};
}

/// Resets the noise levels of the volumes outside `combined` to `noise`. Returns whether a level
/// has changed.
bool restore_levels(const SeriesNoise& noise, const std::vector<int>& combined, Fit& fit) {
  bool changed = false;
  for (std::size_t v = 0; v < noise.levels.size(); ++v)
    if (!std::ranges::binary_search(combined, static_cast<int>(v)))
      changed |= std::exchange(fit.noise.levels[v], noise.levels[v]) != noise.levels[v];
  return changed;
}

/// Computes the spectrum and the basis of `fit` from its noise levels.
/// @param combined  indices of the volumes that the principal components combine. If empty, the
///     function chooses these volumes.
void fit_components(const Samples& samples, const SeriesNoise& given, const FitOptions& options,
                    std::vector<int> combined, Fit& fit) {
  const std::vector<int> volumes = noisy_volumes(fit.noise);
  const Stabiliser stabiliser(fit.noise, samples.shape);
  const auto voxels = select_voxels(samples, stabiliser, volumes, fit.states, options.mask);
  if (voxels.size() < 2) return;
  fit.object.assign(samples.shape.voxels(), false);
  for (const std::uint32_t voxel : voxels) fit.object[voxel] = true;
  const Moments moments = moments_of(samples, stabiliser, volumes, voxels);
  if (combined.empty()) {
    combined = choose_combined(samples, stabiliser, volumes, moments, voxels, options);
    if (restore_levels(given, combined, fit) && !combined.empty())
      return fit_components(samples, given, options, std::move(combined), fit);
  }
  const Decomposition found =
      decompose(moments_of_some(moments, volumes, combined),
                place_of(options.second_group, combined), variance_of(options));
  fit.combined = static_cast<int>(combined.size());
  fit.spectrum = found.spectrum;
  fit.eigenvalues = found.eigen.values;
  fit.basis = make_basis(volumes, moments, combined, found.eigen,
                         filtered_components(found.spectrum, options, fit.combined));
}

/// Sets the noise levels of the volumes v and v + half (real and imaginary parts) to the lower of
/// the two. Estimates that include signal are too high.
SeriesNoise with_equal_pairs(SeriesNoise noise, int half) {
  for (std::size_t v = 0; half > 0 && v + half < noise.levels.size(); ++v) {
    float &a = noise.levels[v], &b = noise.levels[v + half];
    if (a > 0 && b > 0) a = b = std::min(a, b);
  }
  return noise;
}

}  // namespace

Fit fit_series(const Samples& samples, const SeriesNoise& given, const FitOptions& options) {
  const SeriesNoise noise = with_equal_pairs(given, options.second_group);
  const std::vector<int> volumes = noisy_volumes(noise);
  Fit fit{.noise = noise,
          .basis = {},
          .spectrum = {},
          .eigenvalues = {},
          .states = options.states.empty() ? classify_voxels(samples, volumes) : options.states,
          .object = {}};
  SeriesNoise separate = noise;  // for volumes that the components do not combine
  if (options.refine && !volumes.empty()) {
    const NoiseEstimator estimator(samples, noise, options, fit.states);
    fit.noise = with_equal_pairs(estimator.estimate(), options.second_group);
    separate = with_equal_pairs(estimator.initial(), options.second_group);
    // A level from cubes can include fine structure of the volume. For Gaussian noise, the
    // estimates from single volumes are accurate enough to limit these levels.
    if (noise.kind != NoiseKind::rician && !have_one_level(noise))
      for (std::size_t v = 0; v < noise.levels.size(); ++v)
        separate.levels[v] = std::min(separate.levels[v], noise.levels[v]);
  }
  fit_components(samples, separate, options, {}, fit);
  return fit;
}

}  // namespace lull::series
