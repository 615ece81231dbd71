#include "tools/sessions/series_filter.h"

#include <utility>

#include "noise/noise_model.h"
#include "pipeline/run.h"
#include "series/components.h"
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

std::unique_ptr<Denoiser> filter_series(const DenoiseOptions& options,
                                        const io::MediaSource& source,
                                        const std::shared_ptr<FittedSeries>& series,
                                        const std::vector<bm3d::Backend>& backends,
                                        const Notify& notify, const ComponentProgress& progress,
                                        const std::stop_token& stop) {
  const series::Samples& samples = series->store.samples();
  series::project_in_place(samples, series->fit);
  const std::vector<series::ComponentGroup> groups =
      series::group_components(samples, series->fit);
  const FrameFormat format = series::component_format(samples.shape);
  const std::int64_t slices = samples.shape.slices;
  for (const series::ComponentGroup& group : groups) {
    const NoiseModel noise({group.scale, group.scale, group.scale});
    Method method = choose_method(options, noise, source.info());
    const auto session =
        open_denoiser(method, format, backends, options.run.fallback, notify).denoiser;
    series::ComponentSource components(samples, series->fit, group);
    series::ComponentSink sink(samples, group);
    const pipeline::PipelineOptions observed{.observer = [&](const pipeline::PipelineStats& stats) {
      if (progress)
        progress(group.first * slices + stats.frames, groups.back().end * slices);
    }};
    if (pipeline::run(components, *session, sink, observed, stop).cancelled) return nullptr;
  }
  if (stop.stop_requested()) return nullptr;
  auto filtered = std::make_shared<series::FilteredSeries>(series::FilteredSeries{
      .fit = series->fit, .components = samples, .memory = series->store.memory()});
  return series::open_series(std::move(filtered), source.format());
}

}  // namespace lull::tools
