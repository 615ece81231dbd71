#include "series/filter/component_filter.h"

#include <utility>
#include <vector>

#include "series/rician_samples.h"

namespace lull::series {
namespace {

bool filter_components(const Samples& samples, const Fit& fit, const Samples& components,
                       const VolumeFilter& filter) {
  project(samples, fit, components);
  for (const ComponentGroup& group : group_components(components)) {
    ComponentSource source(components, fit, group);
    ComponentSink sink(components, group);
    if (!filter(source, sink, group)) return false;
  }
  return true;
}

/// Replaces Rician noise by nearly Gaussian noise, and returns the decomposition of the new
/// samples. For this, the function first estimates the signal: it filters the components of `fit`.
std::optional<Fit> fit_without_bias(const Samples& samples, Fit fit, FitOptions options,
                                    const VolumeMemory& memory, const VolumeFilter& filter) {
  const Samples estimate = memory(fit.basis.components());
  if (!filter_components(samples, fit, estimate, filter)) return std::nullopt;
  replace_by_expectations(samples, fit, estimate);
  SeriesNoise noise = fit.noise;
  noise.kind = NoiseKind::gaussian;
  options.refine = false;
  options.components = fit.basis.components();
  options.states = std::move(fit.states);
  return fit_series(samples, noise, options);
}

}  // namespace

std::optional<FilteredSeries> filter_series(const Samples& samples, Fit fit,
                                            const FitOptions& options, const VolumeMemory& memory,
                                            const VolumeFilter& filter) {
  FilteredSeries filtered{
      .fit = {}, .components = {}, .volumes = samples.shape.volumes, .memory = {}};
  if (fit.noise.kind == NoiseKind::rician) {
    filtered.least = fit.noise.zero;
    std::optional<Fit> unbiased =
        fit_without_bias(samples, std::move(fit), options, memory, filter);
    if (!unbiased) return std::nullopt;
    fit = *std::move(unbiased);
  }
  filtered.components = components_in_place(samples, fit);
  if (!filter_components(samples, fit, filtered.components, filter)) return std::nullopt;
  filtered.fit = std::move(fit);
  return filtered;
}

}  // namespace lull::series
