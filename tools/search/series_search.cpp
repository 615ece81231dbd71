#include "tools/search/series_search.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "noise/volume/estimate_volume.h"
#include "tools/search/volume_noise_search.h"
#include "tools/volumes/masks.h"

namespace lull::tools {
namespace {

/// If the levels of volumes differ by less than this factor, they count as equal, because estimates
/// from single volumes differ by as much. The second factor is for Rician noise, for which
/// estimates are less accurate.
constexpr float same_level = 1.5f, same_rician_level = 2.5f;
constexpr std::size_t min_cubes = 16;

/// Sets the noise of the scene to that of a volume whose level is the median of all volumes.
void set_noise(const series::SeriesNoise& noise, SceneNoise& scene) {
  const float level = series::median_level(noise);
  VolumeEstimate& volume = *scene.volume;
  volume.noise = series::volume_noise(noise, level);
  volume.level = level;
  scene.estimate.noise = NoiseModel({volume.noise.sigma, volume.noise.sigma, volume.noise.sigma});
  scene.estimate.level = {level, level, level};
  scene.estimate.coarse = level / 8;
}

/// Returns the noise map of a volume with these levels, relative to `level`.
std::shared_ptr<const NoiseMap> relative_map(const VolumeNoise& noise, float level) {
  if (!noise.map) return nullptr;
  auto map = std::make_shared<NoiseMap>(*noise.map);
  for (float& value : map->values) value /= level;
  return map;
}

}  // namespace

std::string folder_of(const std::string& file) {
  if (file.empty() || file == "-" || file == "null" || file == "hash") return {};
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  return folder.empty() ? "." : folder.string();
}

bool levels_differ(std::vector<float> levels, NoiseKind kind) {
  std::erase_if(levels, [](float level) { return !(level > 0); });
  if (levels.empty()) return false;
  std::ranges::sort(levels);
  const std::size_t tenth = levels.size() / 10;
  return levels[levels.size() - 1 - tenth] >
         (kind == NoiseKind::rician ? same_rician_level : same_level) * levels[tenth];
}

SeriesCollector::SeriesCollector(const DenoiseOptions& options, const io::MediaSource& source)
    : options_(options), source_(source) {
  if (may_be_series(options, source.info()))
    store_.emplace(source, options.input.source.limits.memory / 2, folder_of(options.output.file));
}

void SeriesCollector::add(const Frame& slice) {
  if (store_) store_->add(slice);
  if (slice.slice == 0) {
    finish_volume();
    current_.emplace(source_.format(), source_.info().slices);
  }
  if (current_) current_->add(slice);
}

void SeriesCollector::finish_volume() {
  if (!current_) return;
  LevelsByKind& levels = levels_.emplace_back();
  // A volume that has only one value, or no values, contains no noise.
  if (current_->examined() > 0 && current_->cubes().empty()) levels.fill(0.0f);
  if (current_->cubes().size() >= min_cubes)
    for (const NoiseKind kind : {NoiseKind::gaussian, NoiseKind::rician}) {
      const VolumeEstimate estimate =
          estimate_volume(*current_, kind, sample_of_zero(source_.info().values));
      levels[static_cast<std::size_t>(kind)] = estimate.level;
    }
  current_.reset();
}

/// Returns the noise level of each volume. This is the volume's own estimate; if the volume has too
/// few usable voxels, or if all levels are similar, it is the level of all volumes together.
std::vector<float> SeriesCollector::estimated_levels(const VolumeEstimate& whole) const {
  std::vector<float> levels;
  for (const LevelsByKind& by_kind : levels_)
    levels.push_back(by_kind[static_cast<std::size_t>(whole.noise.kind)].value_or(whole.level));
  if (levels_differ(levels, whole.noise.kind)) return levels;
  for (float& level : levels)
    if (level > 0) level = whole.level;
  return levels;
}

series::SeriesNoise SeriesCollector::initial_noise(const SceneNoise& scene) const {
  series::SeriesNoise noise;
  noise.zero = sample_of_zero(source_.info().values);
  const std::size_t volumes = levels_.size();
  if (scene.volume) {
    noise.kind = options_.noise.kind.value_or(scene.volume->noise.kind);
    noise.map = relative_map(scene.volume->noise, scene.volume->level);
    noise.levels.assign(volumes, scene.volume->level);
  } else {
    noise.levels.assign(volumes, scene.estimate.noise.sigma(0));
  }
  if (scene.series && scene.series->levels.size() == volumes) noise.levels = scene.series->levels;
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
  finish_volume();
  series::SeriesNoise noise = initial_noise(scene);
  if (!given) {
    noise.levels = estimated_levels(*scene.volume);
    if (levels_differ(noise.levels, noise.kind)) {
      scene.series = SeriesEstimate{.components = 0, .levels = noise.levels};
      set_noise(noise, scene);
    }
  }
  for (std::size_t v = 0; v < levels_.size(); ++v)
    if (levels_[v].front() == 0.0f) noise.levels[v] = 0;
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
