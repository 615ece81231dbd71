#include "tools/sessions/noise_choice.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "core/error.h"
#include "noise/render/vst_render.h"
#include "tools/noise/clipping_text.h"
#include "tools/noise/noise_text.h"
#include "tools/search/noise_search.h"
#include "tools/search/volume_noise_search.h"
#include "tools/sessions/job.h"

namespace lull::tools {
namespace {

const char* text_of_layout(Layout layout) {
  return layout == Layout::gray ? "grey" : layout == Layout::yuv ? "YUV" : "RGB";
}

std::string name_of_channel(std::size_t number) { return "channel " + std::to_string(number + 1); }

bool is_stack(const InputOptions& options, const io::VideoInfo& input) {
  return input.stack || options.stack;
}

/// Returns the noise model of the filter: for a stack, the noise after variance stabilisation. If
/// the input is not a stack but the noise file describes a volume, the model contains the median
/// level of that volume.
NoiseModel filter_noise(const DenoiseOptions& options, const SceneNoise& scene,
                        const io::VideoInfo& input) {
  if (!scene.volume || is_stack(options.input, input)) return scene.estimate.noise;
  const float level = scene.volume->level;
  return NoiseModel({level, level, level});
}

/// Returns the noise levels of separately filtered volumes, or no value if the levels are equal or
/// unknown.
std::optional<VolumeLevels> levels_of_volumes(const DenoiseOptions& options,
                                              const SceneNoise& scene, const io::VideoInfo& input) {
  if (!scene.series || scene.fitted || !scene.volume) return std::nullopt;
  if (scene.series->levels.size() != static_cast<std::size_t>(volumes_of(input)))
    return std::nullopt;
  VolumeLevels levels{.levels = scene.series->levels, .slices = static_cast<int>(input.slices)};
  const NoiseKind kind = options.noise.kind.value_or(scene.volume->noise.kind);
  if (kind == NoiseKind::rician) levels.zero = sample_of_zero(input.values);
  if (levels.common_level() > 0) return levels;
  return std::nullopt;
}

/// Returns the noise of a scene after the scaling of all volumes to a common noise level.
SceneNoise scaled_to(const VolumeLevels& levels, const SceneNoise& scene) {
  SceneNoise result = scene;
  const float factor = levels.common_level() / scene.volume->level;
  result.volume->noise = scaled(scene.volume->noise, factor);
  result.volume->level *= factor;
  result.estimate.noise = scaled(scene.estimate.noise, factor);
  return result;
}

std::optional<VolumeNoise> noise_to_stabilise(const DenoiseOptions& options,
                                              const SceneNoise& scene, const io::VideoInfo& input) {
  if (!scene.volume || !is_stack(options.input, input)) return std::nullopt;
  VolumeNoise noise = scene.volume->noise;
  if (options.noise.kind) noise.kind = *options.noise.kind;
  if (noise.is_plain() || !(noise.sigma > 0)) return std::nullopt;
  noise.zero = sample_of_zero(input.values);
  return noise;
}

/// Stretches the noise map of a noise file, which can come from a volume of another size, to the
/// size of the input.
void fit_map(const FrameFormat& format, const io::VideoInfo& input, SceneNoise& scene) {
  if (!scene.volume || !scene.volume->noise.map) return;
  auto map = std::make_shared<NoiseMap>(*scene.volume->noise.map);
  const std::int64_t slices = input.stack ? input.slices : input.frames_estimate;
  map->voxels[0] = format.width;
  map->voxels[1] = format.height;
  if (slices > 0) map->voxels[2] = static_cast<int>(slices);
  scene.volume->noise.map = std::move(map);
}

/// Converts the noise levels of a scene to another 0..255 scale, on which all samples are `ratio`
/// times as large.
void rescale(SceneNoise& scene, double ratio) {
  const auto factor = static_cast<float>(ratio);
  scene.estimate.noise = scaled(scene.estimate.noise, factor);
  for (float& level : scene.estimate.level) level *= factor;
  scene.estimate.coarse *= factor;
  if (scene.volume) {
    scene.volume->noise = scaled(scene.volume->noise, factor);
    for (float* level : {&scene.volume->level, &scene.volume->air, &scene.volume->tissue})
      *level *= factor;
  }
  if (scene.series)
    for (float& level : scene.series->levels) level *= factor;
  scene.half.reset();  // stacks have no noise in frames of half the size
}

/// Chooses the scene of a noise file that describes the noise of channel `number` (from 0):
/// - the first scene with the name of the channel;
/// - otherwise, if the file has one scene for each channel, the scene with this number;
/// - otherwise, the first scene.
const SceneNoise& scene_of_channel(const std::vector<SceneNoise>& scenes, std::size_t number,
                                   std::size_t channels) {
  const std::string name = name_of_channel(number);
  for (const SceneNoise& scene : scenes)
    if (scene.name == name || scene.name.starts_with(name + ",")) return scene;
  return scenes.size() == channels ? scenes[number] : scenes.front();
}

/// Returns the plan for a stack with photon noise. The plan stabilises the variance before the
/// filter.
ScenePlan photon_plan(const DenoiseOptions& options, const SceneNoise& scene,
                      const io::VideoInfo& input) {
  const double frames =
      static_cast<double>(input.frames_estimate / std::max<std::int64_t>(input.channels, 1));
  const auto channel = static_cast<std::size_t>(frames > 0 ? scene.from_s / frames : 0);
  const io::ValueScale& values = input.values_of(channel);
  const PhotonNoise photons = rescaled(scene.photons->noise, values.low, 255 / values.span);
  const float sigma = PhotonStabiliser(photons).sigma();
  ScenePlan plan{.method = choose_method(options, NoiseModel({sigma, sigma, sigma}), input),
                 .half = {}};
  plan.method.volume_noise = VolumeNoise{.sigma = sigma, .map = {}, .photons = photons};
  return plan;
}

}  // namespace

std::optional<NoiseRecord> stated_noise(const DenoiseOptions& options, const FrameFormat& format,
                                        const io::VideoInfo& input) {
  const double unit = unit_of(input.values);
  if (uses_features(options.method)) {
    // The feature buffers determine the noise of a render. The noise model therefore contains only
    // the constant noise level after variance stabilisation.
    SceneNoise scene;
    scene.estimate.noise = NoiseModel({light_filter_sigma, light_filter_sigma, light_filter_sigma});
    return NoiseRecord{.layout = format.layout, .unit = 0, .scenes = {scene}};
  }
  if (options.noise.sigma) {
    SceneNoise scene;
    scene.estimate.noise = *options.noise.sigma;
    return NoiseRecord{.layout = format.layout, .unit = 0, .scenes = {scene}};
  }
  if (options.noise.photons && options.noise.photons->is_complete()) {
    const KnownPhotonNoise& given = *options.noise.photons;
    SceneNoise scene;
    scene.photons =
        ScenePhotons{.noise = {.gain = *given.gain, .offset = *given.offset, .read = *given.read}};
    return NoiseRecord{.layout = format.layout, .unit = unit, .scenes = {scene}};
  }
  if ((options.noise.file.empty() && !options.noise.known) || options.run.job.is_part())
    return noise_of_job(options);
  NoiseRecord noise = options.noise.known ? *options.noise.known : read_noise(options.noise.file);
  // The named scenes of a noise file describe the channels of a stack. If the scenes have no names,
  // or the input is not a stack, lull uses only the first scene, because the times of the other
  // scenes apply to another clip.
  if (!input.stack || noise.scenes.front().name.empty()) noise.scenes.resize(1);
  if (noise.layout != format.layout)
    throw InvalidArgument("--noise " + options.noise.file + " (it is from " +
                          text_of_layout(noise.layout) + " frames, the input has " +
                          text_of_layout(format.layout) +
                          " frames); use a noise file from an input of the same kind");
  if ((noise.unit > 0) != (unit > 0))
    throw InvalidArgument(
        "--noise " + options.noise.file + " (the noise file or the input has " +
        "physical units, but not both); use a noise file from an input of the same kind");
  if (unit > 0) {
    rescale(noise.scenes.front(), noise.unit / unit);
    noise.unit = unit;
  }
  for (SceneNoise& scene : noise.scenes) fit_map(format, input, scene);
  return noise;
}

bool needs_clipping(const DenoiseOptions& options, const NoiseRecord& noise,
                    const io::VideoInfo& input) {
  if (finds_noise(options) || uses_features(options.method) || is_stack(options.input, input))
    return false;
  // A process that computes segments reads the content of the noise file from the plan.
  if (options.run.job.is_part() && !options.noise.sigma) return false;
  const SceneNoise& scene = noise.scenes.front();
  const bool exact = scene.over_time || scene.estimate.noise.is_white();
  return exact && !scene.volume && may_show_clipping(scene.estimate.noise, noise.layout);
}

void add_clipping(const DenoiseOptions& options, const io::VideoInfo& input,
                  const std::vector<Excerpt>& excerpts, NoiseRecord& noise) {
  if (!needs_clipping(options, noise, input)) return;
  NoiseModel& given = noise.scenes.front().estimate.noise;
  const auto find = [&] {
    if (options.run.job.is_part()) return clipping_of_job(options.run.job);
    return find_clipping(given, excerpts);
  };
  given = with_clipping(given, find());
}

void assign_to_channels(const io::MediaSource& source, NoiseRecord& noise) {
  const io::VideoInfo& input = source.info();
  const auto channels = static_cast<std::size_t>(std::max<std::int64_t>(input.channels, 1));
  const auto frames = input.frames_estimate / static_cast<std::int64_t>(channels);
  std::vector<SceneNoise> scenes;
  for (std::size_t i = 0; i < channels; ++i) {
    SceneNoise& scene = scenes.emplace_back(scene_of_channel(noise.scenes, i, channels));
    // The levels in a noise file may be on the 0..255 scale of another stack, so the function
    // converts them to the scale of this stack.
    const double unit = unit_of_channel(source, i);
    if (scene.unit > 0 && unit > 0) rescale(scene, scene.unit / unit);
    scene.unit = unit;
    if (channels == 1) continue;
    scene.name = name_of_channel(i);
    scene.from_s = static_cast<double>(frames) * static_cast<double>(i);
  }
  noise.scenes = std::move(scenes);
}

std::vector<std::string> noise_lines(const DenoiseOptions& options, const NoiseRecord& noise) {
  if (uses_features(options.method)) return {};
  const SceneNoise& scene = noise.scenes.front();
  std::vector<std::string> lines;
  if (options.noise.sigma) {
    if (scene.volume && !options.noise.kind)
      lines.push_back(
          "noise: Rician, estimated from the background (--noise gaussian overrides it)");
    if (const std::string where = describe(clipping_of(scene.estimate.noise), noise.layout);
        !where.empty())
      lines.push_back("noise: samples are clipped " + where +
                      " (8-bit levels); the filter accounts for it");
    return lines;
  }
  char strength[48];
  std::snprintf(strength, sizeof strength, "; strength %g",
                static_cast<double>(options.noise.strength));
  for (const std::string& text : describe(noise)) lines.push_back("noise: " + text + strength);
  return lines;
}

std::vector<std::string> noise_lines(const DenoiseOptions& options, const NoiseRecord& noise,
                                     const RepairPlan& repair) {
  std::vector<std::string> lines = noise_lines(options, noise);
  const std::string defects = describe(repair, noise.layout);
  if (defects.empty()) return lines;
  if (lines.empty())
    lines.push_back("noise: repairs " + defects);
  else
    lines.front() += "; repairs " + defects;
  return lines;
}

SceneLevels levels_of(const SceneNoise& scene, int planes) {
  const std::array<float, 3> levels = scene.estimate.noise.levels_in_samples();
  SceneLevels levels_by_plane{scene.from_s, {}};
  for (int i = 0; i < planes; ++i)
    levels_by_plane.sigma.push_back(static_cast<double>(
        scene.volume && scene.volume->noise.sigma > 0 ? scene.volume->level : levels[i]));
  return levels_by_plane;
}

ScenePlan scene_plan(const DenoiseOptions& options, const SceneNoise& given,
                     const io::VideoInfo& input) {
  if (given.photons && is_stack(options.input, input)) return photon_plan(options, given, input);
  const std::optional<VolumeLevels> levels = levels_of_volumes(options, given, input);
  const SceneNoise scene = levels ? scaled_to(*levels, given) : given;
  ScenePlan plan{.method = choose_method(options, filter_noise(options, scene, input), input),
                 .half = {}};
  // A session with a guide filters only at full size, because the guide exists only at full size.
  if (scene.half && options.method.guide.empty())
    plan.half = choose_method(options, scene.half->noise, input);
  plan.method.volume_noise = noise_to_stabilise(options, scene, input);
  plan.method.volume_levels = levels;
  return plan;
}

ClipPlan clip_plan(const DenoiseOptions& options, const NoiseRecord& noise,
                   const io::VideoInfo& input) {
  ClipPlan plan;
  for (const SceneNoise& scene : noise.scenes) {
    if (!plan.scenes.empty()) plan.starts.push_back(scene.from_s);
    plan.scenes.push_back(scene_plan(options, scene, input));
  }
  return plan;
}

}  // namespace lull::tools
