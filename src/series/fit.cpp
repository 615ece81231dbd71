#include "series/fit.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "series/covariance.h"
#include "series/levels.h"
#include "series/symmetric_eigen.h"

namespace lull::series {
namespace {

/// Number of corrections of the noise levels. After the second one, levels change by less than 1 %.
constexpr int corrections = 2;
/// For a correction, this number of voxels per volume is sufficient.
constexpr std::size_t voxels_per_volume = 100, min_voxels = 20'000;
/// If more of the components contain signal, the others are too few to measure the noise.
constexpr double max_signal_share = 0.8;

/// Returns every n-th voxel, so that about `most` voxels remain.
std::vector<std::uint32_t> thinned(const std::vector<std::uint32_t>& voxels, std::size_t most) {
  const std::size_t step = std::max<std::size_t>(1, voxels.size() / most);
  std::vector<std::uint32_t> result;
  for (std::size_t i = 0; i < voxels.size(); i += step) result.push_back(voxels[i]);
  return result;
}

struct Decomposition {
  Moments moments;
  EigenSystem eigen;
  Spectrum spectrum;
};

Decomposition decompose(const Samples& samples, const Stabiliser& stabiliser,
                        std::span<const int> volumes, std::span<const std::uint32_t> voxels,
                        std::optional<double> variance) {
  Decomposition result{
      .moments = moments_of(samples, stabiliser, volumes, voxels), .eigen = {}, .spectrum = {}};
  result.eigen = eigen_of_symmetric(result.moments.covariance, static_cast<int>(volumes.size()));
  result.spectrum = analyse_spectrum(result.eigen.values, result.moments.count, variance);
  return result;
}

double coding_gain_of(const Decomposition& found) {
  const std::size_t count = found.moments.means.size();
  double gain = 0;
  for (std::size_t i = 0; i < count; ++i)
    gain += std::log10(std::max(found.moments.covariance[i * count + i], 1.0)) -
            std::log10(std::max(found.eigen.values[i], 1.0));
  return 10 * gain / static_cast<double>(count);
}

}  // namespace

Fit fit_series(const Samples& samples, const SeriesNoise& noise, const FitOptions& options) {
  const std::vector<int> volumes = noisy_volumes(noise);
  Fit fit{.noise = noise,
          .basis = {},
          .spectrum = {},
          .eigenvalues = {},
          .states = options.states.empty() ? classify_voxels(samples, volumes) : options.states};
  const auto count = static_cast<double>(volumes.size());
  for (int i = 0; options.refine && i < corrections; ++i) {
    const Stabiliser stabiliser(fit.noise, samples.shape);
    const auto voxels =
        thinned(select_voxels(samples, stabiliser, volumes, fit.states, options.mask),
                std::max(min_voxels, voxels_per_volume * volumes.size()));
    if (voxels.size() < 2) break;
    const Decomposition found = decompose(samples, stabiliser, volumes, voxels, {});
    if (found.spectrum.components > max_signal_share * count) break;
    const Basis basis(volumes, found.moments.means, found.eigen.vectors, found.spectrum.components);
    fit.noise = levels_by_residuals(samples, fit.noise, stabiliser, basis, fit.states);
  }
  const Stabiliser stabiliser(fit.noise, samples.shape);
  const auto voxels = select_voxels(samples, stabiliser, volumes, fit.states, options.mask);
  if (voxels.empty()) return fit;
  const Decomposition found = decompose(samples, stabiliser, volumes, voxels,
                                        options.refine ? std::nullopt : std::optional(1.0));
  fit.spectrum = found.spectrum;
  fit.eigenvalues = found.eigen.values;
  fit.coding_gain = coding_gain_of(found);
  const int all = static_cast<int>(volumes.size());
  const int kept =
      options.keep_all ? all : std::min(std::max(fit.spectrum.components, options.components), all);
  fit.basis = Basis(volumes, found.moments.means, found.eigen.vectors, kept);
  return fit;
}

}  // namespace lull::series
