#include "tools/search/series_search.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "core/frame_pool.h"
#include "noise/volume/cube_statistics.h"
#include "noise/volume/estimate_volume.h"
#include "series/complex/slow_phase.h"
#include "series/components.h"
#include "series/levels.h"
#include "tools/search/volume_noise_search.h"
#include "tools/volumes/masks.h"
#include "tools/volumes/phase_file.h"

namespace lull::tools {
namespace {

/// The noise estimator processes only samples in the filter range (core/float_range.h). A division
/// by this number moves the negative samples of real and imaginary parts into the range.
constexpr float part_scale = 4;

/// Replaces the noise in `scene` by the noise of a series. The noise level in `scene` becomes the
/// median of the levels of all volumes.
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
      is_complex_(!options.input.phase.empty()),
      levels_(source.format(), source.info().slices, sample_of_zero(source.info().values)) {
  const int volumes = static_cast<int>(volumes_of(source.info()));
  if (may_be_series(options, source.info()))
    store_.emplace(source, is_complex_ ? 2 * volumes : volumes,
                   options.input.source.limits.memory / 2, folder_of(options.output.file));
  else if (options.noise.kind != NoiseKind::gaussian)
    middle_.emplace(series::Shape{.width = source.format().width,
                                  .height = source.format().height,
                                  .slices = static_cast<int>(source.info().slices),
                                  .volumes = volumes});
}

void SeriesCollector::add(const Frame& slice) {
  if (store_) store_->add(slice);
  if (middle_) middle_->add(slice);
  if (!is_complex_) levels_.add(slice);
}

void SeriesCollector::read_phases() {
  const series::Samples& samples = store_->samples();
  const std::size_t half = samples.shape.samples() / 2;
  const float zero = sample_of_zero(source_.info().values);
  for (std::size_t i = 0; i < half; ++i) samples.data[i] -= zero;
  PhaseFile phases(options_.input, source_);
  std::vector<float> radians;
  for (float* to = samples.data + half; to < samples.data + 2 * half;
       to += samples.shape.slice_voxels()) {
    (void)phases.next(radians);
    std::ranges::copy(radians, to);
  }
  series::make_complex(samples);
}

std::optional<VolumeEstimate> SeriesCollector::add_parts() {
  const series::Samples& samples = store_->samples();
  const series::Shape& shape = samples.shape;
  const FrameFormat format = series::component_format(shape);
  const std::int64_t slices = static_cast<std::int64_t>(shape.slices) * shape.volumes;
  CubeCollector cubes(format, slices);
  FramePool pool(format);
  for (std::int64_t number = 0; number < slices; ++number) {
    Frame slice = pool.acquire();
    slice.pts = number;
    slice.slice = static_cast<int>(number % shape.slices);
    const float* from = samples.data + number * shape.slice_voxels();
    for (int y = 0; y < shape.height; ++y, from += shape.width)
      std::transform(from, from + shape.width, slice.plane<float>(0).row(y),
                     [](float sample) { return sample / part_scale; });
    cubes.add(slice);
    levels_.add(slice);
  }
  levels_.finish();
  if (!cubes.has_enough_cubes()) return std::nullopt;
  return estimate_volume(cubes, NoiseKind::gaussian, 0);
}

/// Returns the noise of the real and imaginary parts, or no value after a failure. If `given` is
/// false, the function also replaces the noise of `scene` by the estimate.
std::optional<series::SeriesNoise> SeriesCollector::noise_of_parts(SceneNoise& scene, bool given) {
  read_phases();
  const std::optional<VolumeEstimate> found = add_parts();
  series::SeriesNoise noise;
  if (given) {
    noise = given_noise(scene);
  } else {
    if (!found) return std::nullopt;
    noise = levels_.noise(*found);
    for (float& level : noise.levels) level *= part_scale;
    scene.volume = found;
  }
  noise.kind = NoiseKind::gaussian;
  noise.zero = 0;
  return noise;
}

/// Converts the given noise in `scene` to the noise of a series. All volumes have the same noise
/// level, unless `scene` contains a level for each volume.
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

/// Returns a flag per voxel: whether the voxel is inside the masks of all volumes.
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
  scene.is_examined_as_series = true;
  levels_.finish();
  series::SeriesNoise noise;
  if (is_complex_) {
    const std::optional<series::SeriesNoise> parts = noise_of_parts(scene, given);
    if (!parts) return;
    noise = *parts;
  } else {
    noise = given ? given_noise(scene) : levels_.noise(*scene.volume);
    // Estimates from single volumes with Rician noise are inaccurate.
    if (!given && middle_ && noise.kind == NoiseKind::rician)
      noise = middle_->with_cube_levels(noise);
  }
  if (!given && !is_complex_ && !series::have_one_level(noise)) {
    scene.series = SeriesEstimate{.components = 0, .levels = noise.levels};
    set_noise(noise, scene);
  }
  levels_.clear_constant_volumes(noise);
  if (!store_ || series::noisy_volumes(noise).size() < 2) return;
  const bool keep_all = options_.noise.strength < 1;
  const series::FitOptions fit_options{
      .mask = mask(),
      .refine = !given,
      .second_group = is_complex_ ? store_->samples().shape.volumes / 2 : 0,
      .keep_all = keep_all};
  auto fitted = std::make_shared<FittedSeries>(
      FittedSeries{*std::exchange(store_, {}), {}, fit_options, is_complex_});
  fitted->fit = series::fit_series(fitted->store.samples(), noise, fit_options);
  const series::Fit& fit = fitted->fit;
  // If the decomposition combines no volumes, lull filters each volume separately and does not need
  // `fitted`. A complex series is an exception: only `fitted` contains the real and imaginary parts
  // that the sessions filter.
  if (fit.combined == 0 && !is_complex_) return;
  if (!given) {
    set_noise(fit.noise, scene);
    // set_noise() has stored the Gaussian noise of the real and imaginary parts. But `scene` must
    // describe the noise of the input: Rician noise, because the samples of the input are
    // magnitudes.
    if (is_complex_) {
      scene.volume->noise.kind = NoiseKind::rician;
      scene.volume->noise.zero = sample_of_zero(source_.info().values);
    }
    // The estimate is certain if at most half of the components contain signal, because the other
    // components then contain only noise.
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
  const bool given = options.input.phase.empty() || !finds_noise(options);
  collector.complete(scene, given);
}

}  // namespace lull::tools
