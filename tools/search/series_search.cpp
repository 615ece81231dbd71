#include "tools/search/series_search.h"

#include <filesystem>
#include <iterator>
#include <utility>

#include "noise/volume/estimate_volume.h"
#include "tools/search/volume_noise_search.h"
#include "tools/volumes/masks.h"

namespace lull::tools {
namespace {

/// Sets the noise of the scene to the noise of a volume whose level is the median of the levels of
/// all volumes.
void set_noise(const series::SeriesNoise& noise, SceneNoise& scene) {
  const float level = series::median_level(noise);
  VolumeEstimate& volume = *scene.volume;
  volume.noise = series::volume_noise(noise, level);
  volume.level = level;
  scene.estimate.noise = NoiseModel({volume.noise.sigma, volume.noise.sigma, volume.noise.sigma});
  scene.estimate.level = {level, level, level};
  scene.estimate.coarse = level / 8;
}

}  // namespace

std::string folder_of(const std::string& file) {
  if (file.empty() || file == "-" || file == "null" || file == "hash") return {};
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  return folder.empty() ? "." : folder.string();
}

SeriesCollector::SeriesCollector(const DenoiseOptions& options, const io::MediaSource& source)
    : options_(options),
      source_(source),
      levels_(source.format(), source.info().slices, sample_of_zero(source.info().values)) {
  if (may_be_series(options, source.info()))
    store_.emplace(source, options.input.source.limits.memory / 2, folder_of(options.output.file));
}

void SeriesCollector::add(const Frame& slice) {
  if (store_) store_->add(slice);
  levels_.add(slice);
}

/// Returns the noise of the series for a given noise level.
series::SeriesNoise SeriesCollector::given_noise(const SceneNoise& scene) const {
  const float zero = sample_of_zero(source_.info().values);
  series::SeriesNoise noise =
      scene.volume
          ? series::equal_noise(scene.volume->noise, scene.volume->level, levels_.volumes(), zero)
          : series::equal_noise({.sigma = scene.estimate.noise.sigma(0)},
                                scene.estimate.noise.sigma(0), levels_.volumes(), zero);
  if (scene.volume) noise.kind = options_.noise.kind.value_or(noise.kind);
  if (scene.series && std::ssize(scene.series->levels) == levels_.volumes())
    noise.levels = scene.series->levels;
  return noise;
}

/// Returns one flag per voxel of a volume: whether the voxel is inside the mask of all volumes.
std::vector<std::uint8_t> SeriesCollector::mask() const {
  const std::optional<VolumeMask> given = given_mask(options_.input, source_);
  if (!given) return {};
  const series::Shape& shape = store_->samples().shape;
  std::vector<std::uint8_t> flags(shape.voxels(), 1);
  for (std::size_t number = 0; number < given->slices.size(); ++number) {
    const SliceMask& slice = *given->slices[number];
    std::uint8_t* flag = flags.data() + number % shape.slices * shape.slice_voxels();
    for (int y = 0; y < shape.height; ++y)
      for (int x = 0; x < shape.width; ++x, ++flag)
        if (!slice.inside(x, y)) *flag = 0;
  }
  return flags;
}

void SeriesCollector::complete(SceneNoise& scene, bool given) {
  levels_.finish();
  series::SeriesNoise noise = given ? given_noise(scene) : levels_.noise(*scene.volume);
  if (!given && series::levels_differ(noise.levels, noise.kind)) {
    scene.series = SeriesEstimate{.components = 0, .levels = noise.levels};
    set_noise(noise, scene);
  }
  levels_.clear_constant_volumes(noise);
  scene.is_examined_as_series = true;
  if (!store_ || series::noisy_volumes(noise).size() < 2) return;
  const bool keep_all = options_.noise.strength < 1;
  const series::FitOptions fit_options{.mask = mask(), .refine = !given, .keep_all = keep_all};
  auto fitted =
      std::make_shared<FittedSeries>(FittedSeries{*std::exchange(store_, {}), {}, fit_options});
  fitted->fit = series::fit_series(fitted->store.samples(), noise, fit_options);
  const series::Fit& fit = fitted->fit;
  if (fit.combined == 0) return;
  if (!given) {
    set_noise(fit.noise, scene);
    // The part of the samples that the components do not explain is noise, even if all cubes
    // contain structure.
    const bool measured = 2 * fit.spectrum.components <= fit.combined;
    scene.volume->certain = scene.estimate.certain = scene.volume->certain || measured;
  }
  scene.series = SeriesEstimate{.components = fit.spectrum.components, .levels = fit.noise.levels};
  scene.fitted = std::move(fitted);
}

void decompose_series(const DenoiseOptions& options, const io::MediaSource& source,
                      SceneNoise& scene) {
  if (scene.is_examined_as_series || !may_be_series(options, source.info())) return;
  SeriesCollector collector(options, source);
  const auto reopened = open_again(options);
  while (const std::optional<Frame> slice = reopened->read()) collector.add(*slice);
  collector.complete(scene, true);
}

}  // namespace lull::tools
