#include "tools/sessions/series_filter.h"

#include <complex>
#include <optional>
#include <utility>

#include "core/frame_pool.h"
#include "noise/noise_model.h"
#include "pipeline/run.h"
#include "series/complex/remaining_phase.h"
#include "series/filter/component_filter.h"
#include "tools/search/volume_noise_search.h"
#include "tools/sessions/method.h"

namespace lull::tools {
namespace {

/// Returns an observer that rotates the complex samples of each slice by `phase`, and passes the
/// rotated real and imaginary parts to `parts`.
/// @param phase   the phases of all slices in radians
/// @param format  format of the parts
series::PartsObserver with_phase(const series::PartsObserver& parts,
                                 const std::shared_ptr<const SeriesStore>& phase,
                                 const FrameFormat& format) {
  return [parts, phase, pool = FramePool(format)](const Frame& noisy, const Frame& real,
                                                  const Frame& imaginary) mutable {
    Frame rotated_real = pool.acquire(), rotated_imaginary = pool.acquire();
    rotated_real.copy_info(real);
    rotated_imaginary.copy_info(imaginary);
    const series::Samples& phases = phase->samples();
    const float* radians = phases.data + noisy.pts * phases.shape.slice_voxels();
    for (int y = 0; y < real.format.height; ++y)
      for (int x = 0; x < real.format.width; ++x, ++radians) {
        const std::complex<float> sample(real.plane<float>(0)(x, y),
                                         imaginary.plane<float>(0)(x, y));
        const std::complex<float> rotated = sample * std::polar(1.0f, *radians);
        rotated_real.plane<float>(0)(x, y) = rotated.real();
        rotated_imaginary.plane<float>(0)(x, y) = rotated.imag();
      }
    parts(noisy, rotated_real, rotated_imaginary);
  };
}

}  // namespace

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
                                        const series::PartsObserver& parts,
                                        const std::stop_token& stop) {
  const series::Samples& samples = series->store.samples();
  std::optional<SeriesStore> estimate;  // estimate of a signal with Rician noise
  const auto memory = [&](int volumes) {
    return estimate.emplace(series->store.with_volumes(volumes)).samples();
  };
  const auto filter = [&](series::ComponentSource& from, series::ComponentSink& to,
                          const series::ComponentGroup& group) {
    const NoiseModel noise({group.scale, group.scale, group.scale});
    const auto session = open_denoiser(choose_method(options, noise, source.info()), from.format(),
                                       backends, options.run.fallback, notify)
                             .denoiser;
    const std::int64_t slices = samples.shape.slices;
    const auto observer = [&](const pipeline::PipelineStats& stats) {
      if (progress) progress(group.first * slices + stats.frames, from.components() * slices);
    };
    return !pipeline::run(from, *session, to, {.observer = observer}, stop).cancelled;
  };
  std::shared_ptr<SeriesStore> removed;  // the phase that the second pass removes
  if (series->is_complex && parts)
    removed = std::make_shared<SeriesStore>(series->store.with_volumes(samples.shape.volumes / 2));
  series::SampleCorrection correct;
  if (series->is_complex)
    correct = [&](const series::Samples& from, const series::Fit& fit,
                  const series::Samples& components) {
      series::remove_remaining_phase(from, fit, components,
                                     removed ? removed->samples() : series::Samples{});
    };
  std::optional<series::FilteredSeries> filtered =
      series::filter_series(samples, series->fit, series->options, memory, filter, correct);
  if (!filtered || stop.stop_requested()) return nullptr;
  filtered->memory = series->store.memory();
  const series::Shape shape = samples.shape;
  auto session = series::open_series(
      std::make_shared<const series::FilteredSeries>(*std::move(filtered)), source.format());
  if (!series->is_complex) return session;
  return series::open_magnitudes(std::move(session), source.format(),
                                 static_cast<std::int64_t>(shape.slices) * shape.volumes / 2,
                                 sample_of_zero(source.info().values),
                                 removed ? with_phase(parts, removed, source.format()) : parts);
}

}  // namespace lull::tools
