#include "tools/search/volume_noise_search.h"

#include <algorithm>
#include <memory>

#include "core/error.h"
#include "noise/volume/cube_statistics.h"
#include "noise/volume/estimate_photons.h"
#include "tools/search/noise_search.h"
#include "tools/search/series_search.h"

namespace lull::tools {
namespace {

bool is_volume_noise(const DenoiseOptions& options, const io::VideoInfo& info) {
  const bool rician =
      options.noise.kind == NoiseKind::rician;  // true even if slices are denoised as pictures
  return is_volume(options, info) || (rician && (info.stack || options.input.stack));
}

/// Reads all slices of the input and returns the statistics of their cubes of 4x4x4 voxels. If
/// `series` is not null, adds the slices to `series`.
CubeCollector collect(const DenoiseOptions& options, const io::MediaSource& source,
                      SeriesCollector* series = nullptr) {
  CubeCollector collector(source.format(), source.info().frames_estimate);
  const auto reopened = open_again(options);
  while (const std::optional<Frame> slice = reopened->read()) {
    if (slice->format != source.format()) break;
    collector.add(*slice);
    if (series) series->add(*slice);
  }
  return collector;
}

/// Returns the noise of a volume from cubes of 4x4x4 voxels, or no value if too few cubes are
/// usable.
std::optional<VolumeEstimate> estimate(const DenoiseOptions& options,
                                       const CubeCollector& collector,
                                       const io::ValueScale& values) {
  if (!collector.has_enough_cubes() && collector.constant_values().empty()) return std::nullopt;
  return estimate_volume(collector, options.noise.kind, sample_of_zero(values));
}

/// Returns the noise, estimated from cubes of 4x4x4 voxels. If the input is a volume, the function
/// estimates photon noise only if an option requests it.
std::optional<SceneNoise> scene_of_cubes(const DenoiseOptions& options,
                                         const CubeCollector& collector,
                                         const io::ValueScale& values, bool is_volume) {
  std::optional<VolumeEstimate> found = estimate(options, collector, values);
  if (!is_volume || options.noise.photons)
    if (auto scene = photon_scene(options, collector, values, found)) return scene;
  if (!found) return std::nullopt;
  return scene_of(*std::move(found));
}

/// Returns the noise of the volume that contains the slice.
VolumeNoise noise_of_slice(const SceneNoise& scene, const io::VideoInfo& input,
                           const Frame& slice) {
  if (!scene.volume) return {.sigma = scene.estimate.level[0]};
  const bool by_volume =
      scene.series && static_cast<std::int64_t>(scene.series->levels.size()) == volumes_of(input);
  const float level = by_volume ? scene.series->levels[slice.pts / input.slices] : 0;
  if (!(level > 0)) return scene.volume->noise;
  return scaled(scene.volume->noise, level / scene.volume->level);
}

/// Replaces each sample of `slice` by the noise level of the voxel.
void write_levels(const VolumeNoise& noise, const io::ValueScale& values, int z,
                  Plane<float>& buffer, const Frame& slice) {
  const PlaneView<float> target = slice.plane<float>(0), levels = buffer.view();
  if (noise.map) noise.map->slice(z, levels);
  const float zero = sample_of_zero(values);
  for (int y = 0; y < target.height; ++y)
    for (int x = 0; x < target.width; ++x)
      target(x, y) = (zero + (noise.map ? levels(x, y) : noise.sigma)) / 255 * slice.format.white;
}

[[noreturn]] void refuse_map_of_photons() {
  throw InvalidArgument(
      "--noise-map with photon noise (its level depends on the brightness, not on the position); "
      "leave --noise-map out");
}

io::SinkOptions options_of_map(const OutputOptions& options) {
  return {
      .overwrite = options.overwrite, .datatype = io::DataType::float32, .access = options.access};
}

}  // namespace

std::unique_ptr<io::MediaSource> open_again(const DenoiseOptions& options) {
  io::SourceOptions settings = source_options(options.input);
  settings.selection = {};
  settings.threads = options.run.threads;
  settings.tolerate_damage = true;
  return io::open_source(options.input.file, settings);
}

SceneNoise scene_of(VolumeEstimate volume) {
  SceneNoise scene;
  scene.estimate.noise = NoiseModel({volume.noise.sigma, volume.noise.sigma, volume.noise.sigma});
  scene.estimate.level = {volume.level, volume.level, volume.level};
  scene.estimate.coarse = volume.level / 8;
  scene.estimate.certain = volume.certain;
  scene.estimate.why = volume.why;
  scene.volume = std::move(volume);
  return scene;
}

std::optional<SceneNoise> photon_scene(const DenoiseOptions& options,
                                       const CubeCollector& collector, const io::ValueScale& values,
                                       const std::optional<VolumeEstimate>& other) {
  // lull assumes photon noise only if the ratio between the noise levels of the brightest and the
  // darkest cubes is at least `min_rise`. With Rician noise, the ratio of tissue to air is
  // already 1.5, so `min_rise_above_rician` is higher.
  constexpr double min_rise = 1.3, min_rise_above_rician = 2;
  constexpr double max_error = 0.2;  // relative error of the gain
  if (options.noise.kind || options.noise.sigma) return std::nullopt;
  KnownPhotonNoise known = options.noise.photons.value_or(KnownPhotonNoise{});
  const double factor = 255 / values.span;  // samples per unit of the file
  for (std::optional<double>* value : {&known.gain, &known.read})
    if (*value) **value *= factor;
  if (known.offset) known.offset = (*known.offset - values.low) * factor;
  const std::optional<PhotonEstimate> found = estimate_photons(collector, known);
  if (!found) return std::nullopt;
  const bool rician = other && other->noise.kind == NoiseKind::rician;
  const double rise = found->bright / found->dark;
  if (!options.noise.photons &&
      (rise < (rician ? min_rise_above_rician : min_rise) || found->slope_error > max_error))
    return std::nullopt;
  SceneNoise scene;
  const auto level = static_cast<float>(found->level);
  scene.estimate.noise = NoiseModel({level, level, level});
  scene.estimate.level = {level, level, level};
  scene.estimate.coarse = level / 8;
  const PhotonNoise& noise = found->noise;
  scene.photons = ScenePhotons{.noise = {.gain = noise.gain / factor,
                                         .offset = noise.offset / factor + values.low,
                                         .read = noise.read / factor},
                               .dark = found->dark / factor,
                               .bright = found->bright / factor};
  return scene;
}

float sample_of_zero(const io::ValueScale& values) {
  return static_cast<float>(-255 * values.low / values.span);
}

void check_volume_noise(const DenoiseOptions& options, const io::VideoInfo& input) {
  if (options.noise.photons && !input.stack && !options.input.stack)
    throw InvalidArgument("--noise poisson for '" + options.input.file +
                          "' (its frames are not slices of a stack; the noise of cameras is "
                          "recognised without this option); give --stack if they are");
  if (options.noise.photons && options.noise.sigma)
    throw InvalidArgument(
        "--noise poisson with --sigma (photon noise has no single level); leave one out");
  if (options.noise.kind == NoiseKind::rician && !input.stack && !options.input.stack)
    throw InvalidArgument("--noise rician for '" + options.input.file +
                          "' (its frames are not slices of a volume); give --stack if they are");
  if (!options.noise.map.empty() && !input.volume)
    throw InvalidArgument("--noise-map for '" + options.input.file +
                          "' (only volumes are supported); leave it out");
  if (!options.noise.map.empty() && options.noise.photons) refuse_map_of_photons();
  if (options.input.phase.empty()) return;
  if (!input.volume)
    throw InvalidArgument("--phase for '" + options.input.file +
                          "' (only volumes are supported); leave it out");
  if (!can_read_again(options.input.file))
    throw InvalidArgument("--phase for the pipe '" + options.input.file +
                          "' (the input must be read twice); give a file");
}

std::optional<SceneNoise> noise_of_volume(const DenoiseOptions& options,
                                          const io::MediaSource& source) {
  if (source.format().planes() != 1 || !is_volume_noise(options, source.info()))
    return std::nullopt;
  std::optional<SeriesCollector> series;
  if (volumes_of(source.info()) > 1 || !options.input.phase.empty())
    series.emplace(options, source);
  const CubeCollector cubes = collect(options, source, series ? &*series : nullptr);
  const bool is_volume = source.info().volume;
  std::optional<SceneNoise> scene = scene_of_cubes(options, cubes, source.info().values, is_volume);
  if (!scene && !options.input.phase.empty()) scene.emplace();  // the parts may suffice
  if (!scene || !series) return scene;
  if (scene->volume || !options.input.phase.empty()) series->complete(*scene, false);
  const bool known = scene->volume || scene->photons;
  return known ? scene : std::nullopt;
}

std::optional<SceneNoise> noise_of_first_slices(const DenoiseOptions& options,
                                                const std::vector<Frame>& slices,
                                                const io::ValueScale& values) {
  const bool rician = options.input.stack && options.noise.kind == NoiseKind::rician;
  if (slices.empty() || slices.front().format.planes() != 1 || !(may_be_volume(options) || rician))
    return std::nullopt;
  CubeCollector collector(slices.front().format, static_cast<std::int64_t>(slices.size()));
  for (const Frame& slice : slices) collector.add(slice);
  std::optional<SceneNoise> scene = scene_of_cubes(options, collector, values, false);
  if (scene && scene->volume && scene->volume->noise.map) {
    scene->volume->noise.map.reset();
    scene->volume->noise.sigma = scene->volume->level;
    scene = scene_of(*std::move(scene->volume));
  }
  return scene;
}

void determine_noise_kind(const DenoiseOptions& options, const io::MediaSource& source,
                          NoiseRecord& noise) {
  const float sigma = noise.scenes.front().estimate.noise.sigma(0);
  const bool known = !options.noise.sigma || options.noise.kind == NoiseKind::gaussian;
  if (known || !(sigma > 0) || !is_volume_noise(options, source.info())) return;
  VolumeEstimate with_given_level{.noise = {.kind = NoiseKind::rician, .sigma = sigma},
                                  .level = sigma};
  if (!options.noise.kind) {
    if (!can_read_again(options.input.file) || source.format().planes() != 1) return;
    const auto found = estimate(options, collect(options, source), source.info().values);
    if (!found || found->noise.kind != NoiseKind::rician) return;
  }
  noise.scenes.front().volume = with_given_level;
}

void check_noise_map(const DenoiseOptions& options, io::MediaSource& source) {
  if (!options.noise.map.empty())
    io::check_output(options.noise.map, source, options_of_map(options.output));
}

void write_noise_map(const DenoiseOptions& options, const io::MediaSource& source,
                     const NoiseRecord& noise) {
  if (options.noise.map.empty()) return;
  const SceneNoise& scene = noise.scenes.front();
  if (scene.photons) refuse_map_of_photons();
  const auto reopened = open_again(options);
  const auto sink = io::open_sink(options.noise.map, *reopened, options_of_map(options.output));
  Plane<float> buffer(source.format().width, source.format().height);
  while (const std::optional<Frame> slice = reopened->read()) {
    write_levels(noise_of_slice(scene, source.info(), *slice), source.info().values, slice->slice,
                 buffer, *slice);
    sink->write(*slice);
  }
  sink->finish();
}

}  // namespace lull::tools
