#include "tools/sessions/series_filter.h"

#include <utility>

#include "noise/noise_model.h"
#include "pipeline/run.h"
#include "series/components.h"
#include "series/rician_samples.h"
#include "series/series_denoiser.h"
#include "tools/sessions/method.h"

namespace lull::tools {

void SeriesProgress::operator()(std::int64_t done, std::int64_t all) {
  constexpr std::chrono::seconds interval(15);
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < interval) return;
  last_ = now;
  info_("series: filtered " + std::to_string(100 * done / all) + " % of the components");
}

namespace {

class SeriesFilter {
 public:
  SeriesFilter(const DenoiseOptions& options, const io::MediaSource& source,
               const std::vector<bm3d::Backend>& backends, const Notify& notify,
               const ComponentProgress& progress, const std::stop_token& stop)
      : options_(options),
        source_(source),
        backends_(backends),
        notify_(notify),
        progress_(progress),
        stop_(stop) {}

  /// Computes the components of the series and filters them. Returns false if the run was stopped.
  bool filter(const series::Samples& samples, series::Fit& fit, const series::Samples& components) {
    series::project(samples, fit, components);
    const std::vector<series::ComponentGroup> groups = series::group_components(components);
    for (const series::ComponentGroup& group : groups)
      if (!filter(fit, components, group)) return false;
    return !stop_.stop_requested();
  }

 private:
  bool filter(const series::Fit& fit, const series::Samples& components,
              const series::ComponentGroup& group) {
    const NoiseModel noise({group.scale, group.scale, group.scale});
    const auto session = open_denoiser(choose_method(options_, noise, source_.info()),
                                       series::component_format(components.shape), backends_,
                                       options_.run.fallback, notify_)
                             .denoiser;
    series::ComponentSource source(components, fit, group);
    series::ComponentSink sink(components, group);
    const std::int64_t slices = components.shape.slices;
    const auto observer = [&](const pipeline::PipelineStats& stats) {
      if (progress_)
        progress_(group.first * slices + stats.frames, components.shape.volumes * slices);
    };
    return !pipeline::run(source, *session, sink, {.observer = observer}, stop_).cancelled;
  }

  const DenoiseOptions& options_;
  const io::MediaSource& source_;
  const std::vector<bm3d::Backend>& backends_;
  const Notify& notify_;
  const ComponentProgress& progress_;
  const std::stop_token& stop_;
};

/// Replaces Rician noise by Gaussian noise. The replacement needs a first estimate of the signal,
/// so this function filters the components once. Returns false if the run was stopped.
bool remove_rician_bias(SeriesFilter& filter, FittedSeries& series) {
  const series::Samples& samples = series.store.samples();
  const SeriesStore estimate = series.store.with_volumes(series.fit.basis.components());
  if (!filter.filter(samples, series.fit, estimate.samples())) return false;
  series::replace_by_expectations(samples, series.fit, estimate.samples());
  series::SeriesNoise noise = series.fit.noise;
  noise.kind = NoiseKind::gaussian;
  series::FitOptions options = series.options;
  options.refine = false;
  options.components = series.fit.basis.components();
  options.states = std::move(series.fit.states);
  series.fit = series::fit_series(samples, noise, options);
  return true;
}

}  // namespace

std::unique_ptr<Denoiser> filter_series(const DenoiseOptions& options,
                                        const io::MediaSource& source,
                                        const std::shared_ptr<FittedSeries>& series,
                                        const std::vector<bm3d::Backend>& backends,
                                        const Notify& notify, const ComponentProgress& progress,
                                        const std::stop_token& stop) {
  const series::Samples& samples = series->store.samples();
  const bool is_rician = series->fit.noise.kind == NoiseKind::rician;
  SeriesFilter filter(options, source, backends, notify, progress, stop);
  if (is_rician && !remove_rician_bias(filter, *series)) return nullptr;
  const series::Samples components = series::components_in_place(samples, series->fit);
  if (!filter.filter(samples, series->fit, components)) return nullptr;
  auto filtered = std::make_shared<series::FilteredSeries>(
      series::FilteredSeries{.fit = series->fit,
                             .components = components,
                             .volumes = samples.shape.volumes,
                             .memory = series->store.memory()});
  if (is_rician) filtered->least = series->fit.noise.zero;
  return series::open_series(std::move(filtered), source.format());
}

}  // namespace lull::tools
