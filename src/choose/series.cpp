#include "choose/series.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "choose/choose.h"
#include "core/frame_pool.h"
#include "noise/volume/cube_statistics.h"
#include "noise/volume/estimate_volume.h"
#include "series/filter/component_filter.h"
#include "series/filter/volume_levels.h"

namespace lull {
namespace {

/// Returns a copy of slice `number` of the series.
Frame slice_of(const series::Samples& samples, FramePool& pool, std::int64_t number) {
  const series::Shape& shape = samples.shape;
  Frame slice = pool.acquire();
  slice.pts = number;
  slice.slice = static_cast<int>(number % shape.slices);
  const float* from = samples.data + number * shape.slice_voxels();
  for (int y = 0; y < shape.height; ++y, from += shape.width)
    std::copy_n(from, shape.width, slice.plane<float>(0).row(y));
  return slice;
}

void for_each_slice(const series::Samples& samples, const std::function<void(Frame)>& use) {
  FramePool pool(series::component_format(samples.shape));
  const std::int64_t slices =
      static_cast<std::int64_t>(samples.shape.slices) * samples.shape.volumes;
  for (std::int64_t number = 0; number < slices; ++number) use(slice_of(samples, pool, number));
}

/// Returns the given or estimated noise of the series, or no value if the estimation fails.
std::optional<series::SeriesNoise> noise_of_series(const series::Samples& samples,
                                                   const SeriesSettings& settings) {
  const FrameFormat format = series::component_format(samples.shape);
  const int slices = samples.shape.slices, volumes = samples.shape.volumes;
  CubeCollector cubes(format, static_cast<std::int64_t>(slices) * volumes);
  series::VolumeLevels levels(format, slices, settings.zero);
  for_each_slice(samples, [&](const Frame& slice) {
    if (!settings.noise) cubes.add(slice);
    levels.add(slice);
  });
  levels.finish();
  std::optional<series::SeriesNoise> noise;
  if (settings.noise)
    noise = series::equal_noise(*settings.noise, settings.noise->sigma, volumes, settings.zero);
  else if (cubes.has_enough_cubes())
    noise = levels.noise(estimate_volume(cubes, settings.kind, settings.zero));
  if (noise) levels.clear_constant_volumes(*noise);
  return noise;
}

/// Returns a function that denoises the volumes of one group of principal components. The function
/// passes all these volumes through one bm4d session.
series::VolumeFilter volume_filter(const SeriesSettings& settings) {
  return [&settings](series::ComponentSource& source, series::ComponentSink& sink,
                     const series::ComponentGroup& group) {
    const float sigma = group.scale * settings.strength;
    const SessionChoice choice{.method = "bm4d",
                               .profile = settings.profile,
                               .device = settings.device,
                               .noise = NoiseModel({sigma, sigma, sigma})};
    const std::unique_ptr<Denoiser> session = open_chosen(choice, source.format()).denoiser;
    while (std::optional<Frame> slice = source.read()) {
      if (std::optional<Frame> result = session->push(*std::move(slice)))
        sink.write(*std::move(result));
      while (std::optional<Frame> result = session->next()) sink.write(*std::move(result));
    }
    while (std::optional<Frame> result = session->drain()) sink.write(*std::move(result));
    return true;
  };
}

/// Replaces each slice in `samples` by the filtered slice.
void write_results(const series::FilteredSeries& filtered, const series::Samples& samples) {
  const auto session = series::open_series(std::make_shared<const series::FilteredSeries>(filtered),
                                           series::component_format(samples.shape));
  for_each_slice(samples, [&](Frame slice) {
    const std::int64_t number = slice.pts;
    const std::optional<Frame> result = session->push(std::move(slice));
    float* to = samples.data + number * samples.shape.slice_voxels();
    for (int y = 0; y < samples.shape.height; ++y, to += samples.shape.width)
      std::copy_n(result->plane<float>(0).row(y), samples.shape.width, to);
  });
}

}  // namespace

bool denoise_series(const series::Samples& samples, const SeriesSettings& settings) {
  const std::optional<series::SeriesNoise> noise = noise_of_series(samples, settings);
  if (!noise || series::noisy_volumes(*noise).size() < 2) return false;
  const series::FitOptions options{.refine = !settings.noise, .keep_all = settings.strength < 1};
  series::Fit fit = series::fit_series(samples, *noise, options);
  if (fit.combined == 0) return false;
  std::vector<float> working(samples.data, samples.data + samples.shape.samples());
  std::vector<float> estimate;
  const auto memory = [&](int volumes) {
    series::Shape shape = samples.shape;
    shape.volumes = volumes;
    estimate.resize(shape.samples());
    return series::Samples{.shape = shape, .data = estimate.data()};
  };
  const std::optional<series::FilteredSeries> filtered =
      series::filter_series({.shape = samples.shape, .data = working.data()}, std::move(fit),
                            options, memory, volume_filter(settings), {});
  write_results(*filtered, samples);
  return true;
}

}  // namespace lull
