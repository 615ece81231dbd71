#include "series/fit.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "series/covariance.h"
#include "series/decomposition.h"
#include "series/levels.h"
#include "series/noise_estimator.h"
#include "series/risk.h"

namespace lull::series {
namespace {

/// Minimum number of filtered components. Even a component with a small eigenvalue can contain a
/// signal, if this signal exists in only a few voxels.
constexpr int min_components = 16;
/// lull filters a volume separately only if a separate filter reduces the estimated error of the
/// volume by more than `significance` standard errors. lull does not examine series of more than
/// `max_examined_volumes` volumes.
constexpr double significance = 2;
constexpr std::size_t max_examined_volumes = 128;
/// A separate filter may be better if the estimated error of a filter of the components is at least
/// this share of the estimated error of a separate filter.
constexpr double doubtful_share = 0.8;

/// Returns the means and the covariance of the volumes in the list `some`.
Moments moments_of_some(const Moments& moments, const std::vector<int>& all,
                        const std::vector<int>& some) {
  std::vector<std::size_t> places;
  for (const int volume : some) places.push_back(place_of(volume, all));
  return part_of(moments, places);
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

/// Returns the volumes of the list `volumes` for which a separate filter may be better.
std::vector<int> doubtful_of(const Risks& risks, const std::vector<int>& volumes) {
  std::vector<int> doubtful;
  for (std::size_t i = 0; i < risks.alone.size(); ++i)
    if (risks.together[i] > doubtful_share * risks.alone[i]) doubtful.push_back(volumes[i]);
  return doubtful;
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
/// @param doubtful  receives the combined volumes for which a separate filter may be better
std::vector<int> choose_combined(const Samples& samples, const Stabiliser& stabiliser,
                                 const std::vector<int>& volumes, const Moments& moments,
                                 const std::vector<std::uint32_t>& voxels,
                                 const FitOptions& options, std::vector<int>& doubtful) {
  std::vector<int> combined = volumes;
  while (volumes.size() <= max_examined_volumes && combined.size() > 1) {
    const Moments part = moments_of_some(moments, volumes, combined);
    const Decomposition found =
        decompose(part, place_of(options.second_group, combined), variance_of(options));
    const int kept =
        filtered_components(found.spectrum, options, static_cast<int>(combined.size()));
    const Risks risks =
        estimate_risks(samples, stabiliser, combined, part.means, found.eigen, kept, voxels);
    doubtful = doubtful_of(risks, combined);
    if (!remove_alone(risks, combined)) break;
  }
  if (combined.size() > 1) return combined;
  doubtful.clear();
  return {};
}

/// Resets the noise levels of the volumes outside `combined` to `fit.separate`, and, if these are
/// more than a quarter of the volumes, also the noise map. Returns whether the noise has changed.
bool restore_levels(const std::vector<int>& combined, Fit& fit) {
  const SeriesNoise& noise = fit.separate;
  bool changed = false;
  for (std::size_t v = 0; v < noise.levels.size(); ++v)
    if (!std::ranges::binary_search(combined, static_cast<int>(v)))
      changed |= std::exchange(fit.noise.levels[v], noise.levels[v]) != noise.levels[v];
  // If many volumes share no component with others, the residuals contain signal, and a map from
  // the residuals shows this signal.
  if (4 * combined.size() < 3 * noisy_volumes(fit.noise).size())
    changed |= std::exchange(fit.noise.map, noise.map) != noise.map;
  return changed;
}

/// Computes the spectrum and the basis of `fit` from its noise levels.
/// @param combined  indices of the volumes that the principal components combine. If empty, the
///     function chooses these volumes.
void fit_components(const Samples& samples, const FitOptions& options, std::vector<int> combined,
                    Fit& fit) {
  const std::vector<int> volumes = noisy_volumes(fit.noise);
  const Stabiliser stabiliser(fit.noise, samples.shape);
  const auto voxels = select_voxels(samples, stabiliser, volumes, fit.states, options.mask);
  if (voxels.size() < 2) return;
  fit.object.assign(samples.shape.voxels(), false);
  for (const std::uint32_t voxel : voxels) fit.object[voxel] = true;
  const Moments moments = moments_of(samples, stabiliser, volumes, voxels);
  if (combined.empty()) {
    combined =
        choose_combined(samples, stabiliser, volumes, moments, voxels, options, fit.doubtful);
    if (restore_levels(combined, fit) && !combined.empty())
      return fit_components(samples, options, std::move(combined), fit);
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
          .object = {},
          .combined = 0,
          .separate = noise,
          .doubtful = {}};
  if (options.refine && !volumes.empty()) {
    const EstimatedNoise estimated = estimate_noise(samples, noise, options, fit.states);
    fit.noise = with_equal_pairs(estimated.found, options.second_group);
    fit.separate = with_equal_pairs(estimated.initial, options.second_group);
    // A level from cubes can include fine structure of the volume. Gaussian estimates of single
    // volumes are accurate enough as a limit.
    if (noise.kind != NoiseKind::rician && !have_one_level(noise))
      for (std::size_t v = 0; v < noise.levels.size(); ++v)
        fit.separate.levels[v] = std::min(fit.separate.levels[v], noise.levels[v]);
  }
  FitOptions all = options;
  // Two groups have separate components. If the levels differ, the spectrum of the noise is wider
  // and hides more components with signal.
  if (options.second_group > 0 && !have_one_level(fit.noise))
    all.components = std::max(all.components, 2 * min_components);
  fit_components(samples, all, {}, fit);
  return fit;
}

Fit without_volumes(const Samples& samples, Fit fit, const std::vector<int>& removed,
                    const FitOptions& options) {
  std::vector<int> combined;
  for (int i = 0; i < fit.basis.size(); ++i)
    if (!fit.basis.is_separate(i)) combined.push_back(fit.basis.volumes()[i]);
  const auto is_removed = [&](int volume) { return std::ranges::binary_search(removed, volume); };
  std::erase_if(combined, is_removed);
  std::erase_if(fit.doubtful, is_removed);
  if (combined.size() < 2) {  // a single volume is a component of its own
    combined.clear();
    fit.doubtful.clear();
  }
  restore_levels(combined, fit);
  if (combined.empty()) combined.push_back(removed.front());
  fit_components(samples, options, std::move(combined), fit);
  return fit;
}

}  // namespace lull::series
