#include "series/filter/component_filter.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "series/filter/filter_risk.h"
#include "series/filter/rician_samples.h"

namespace lull::series {
namespace {

/// lull filters a volume separately if this reduces the estimated error by more than `significance`
/// standard errors, and to less than `max_share` of the error.
constexpr double significance = 4, max_share = 0.98;

/// @param restores  whether the function restores signal from the residual of each component
///     (ResidualFit)
bool filter_components(const Samples& samples, const Fit& fit, const Samples& components,
                       const VolumeFilter& filter, bool restores) {
  project(samples, fit, components);
  ResidualFit residuals(components, fit.object);
  for (const ComponentGroup& group : group_components(components)) {
    ComponentSource source(components, fit, group);
    ComponentSink sink(components, group, restores ? &residuals : nullptr);
    if (!filter(source, sink, group)) return false;
  }
  return true;
}

/// Filters the components of `fit`, corrects the samples, and decomposes the corrected samples,
/// whose noise is Gaussian.
/// @param options  options of the new decomposition
std::optional<Fit> fit_corrected(const Samples& samples, Fit fit, FitOptions options,
                                 const VolumeMemory& memory, const VolumeFilter& filter,
                                 const SampleCorrection& correct) {
  const Samples estimate = memory(fit.basis.components());
  if (!filter_components(samples, fit, estimate, filter, false)) return std::nullopt;
  correct(samples, fit, estimate);
  SeriesNoise noise = fit.noise;
  noise.kind = NoiseKind::gaussian;
  options.states = std::move(fit.states);
  return fit_series(samples, noise, options);
}

/// Filters the volumes of Fit::doubtful separately if this is better (filter_risk.h).
Fit with_separate_volumes(const Samples& samples, Fit fit, const FitOptions& options,
                          const VolumeFilter& filter) {
  // The real and the imaginary part of a volume need the same filter.
  if (options.second_group > 0) return fit;
  while (!fit.doubtful.empty()) {
    const Risks risks = risks_of_filters(samples, fit, fit.doubtful, filter);
    std::vector<int> removed;
    for (std::size_t i = 0; i < risks.alone.size(); ++i)
      if (risks.together[i] - risks.alone[i] > significance * risks.error[i] &&
          risks.alone[i] < max_share * risks.together[i])
        removed.push_back(fit.doubtful[i]);
    if (removed.empty()) break;
    fit = without_volumes(samples, std::move(fit), removed, options);
  }
  return fit;
}

}  // namespace

std::optional<FilteredSeries> filter_series(const Samples& samples, Fit fit,
                                            const FitOptions& options, const VolumeMemory& memory,
                                            const VolumeFilter& filter,
                                            const SampleCorrection& correct) {
  FilteredSeries filtered{
      .fit = {}, .components = {}, .volumes = samples.shape.volumes, .memory = {}};
  FitOptions second = options;
  SampleCorrection correction = correct;
  if (fit.noise.kind == NoiseKind::rician) {
    filtered.least = fit.noise.zero;
    second.refine = false;
    second.components = fit.basis.components();
    correction = replace_by_expectations;
  }
  if (correction) {
    std::optional<Fit> corrected =
        fit_corrected(samples, std::move(fit), second, memory, filter, correction);
    if (!corrected) return std::nullopt;
    fit = *std::move(corrected);
  }
  fit = with_separate_volumes(samples, std::move(fit), options, filter);
  filtered.components = components_in_place(samples, fit);
  if (!filter_components(samples, fit, filtered.components, filter, true)) return std::nullopt;
  filtered.fit = std::move(fit);
  return filtered;
}

}  // namespace lull::series
